// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"

#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/gpu/test_card.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <optional>

namespace atelier::test {

using namespace std::chrono_literals;

core::time_point manual_timers::now() const {
  return now_;
}

void manual_timers::after(core::timespan delay, std::function<void()> what) {
  due_.emplace(std::pair{now_ + delay, next_++}, std::move(what));
}

void manual_timers::advance(core::timespan span) {
  const auto end = now_ + span;
  while (!due_.empty() && due_.begin()->first.first <= end)
    step();
  now_ = end;
}

bool manual_timers::step() {
  if (due_.empty())
    return false;
  auto next = due_.extract(due_.begin());
  now_ = next.key().first;
  next.mapped()();
  return true;
}

namespace {

constexpr uint32_t slot_count = 400;

std::shared_ptr<const planning::profile> one_variant() {
  planning::profile known;
  planning::variant_profile v;
  v.name = "card@20";
  v.model = "card";
  v.steps = 20;
  v.native_px = {16, 16};
  v.step = {{1, 256, 10ms}, {2, 256, 11ms}};
  v.text = 3ms;
  v.decode = 5ms;
  known.variants.push_back(v);
  return std::make_shared<const planning::profile>(std::move(known));
}

} // namespace

rig::rig(bool payload) : known(one_variant()), payload_(payload) {
  const auto bytes = payload
                     ? std::array<uint64_t, ipc::slot_kinds>{136, 1088, 104}
                     : std::array<uint64_t, ipc::slot_kinds>{};
  slots = std::make_shared<ipc::heap_store>(
    7,
    std::array<uint32_t, ipc::slot_kinds>{slot_count, slot_count, slot_count},
    bytes);
}

ipc::slot_ref rig::grant(ipc::slot_kind kind) {
  BOOST_REQUIRE_LT(next_slot_, slot_count);
  const ipc::slot_ref slot{7, next_slot_++, 3, kind};
  slots->open(slot);
  return slot;
}

gpu::open_job rig::job(uint64_t id, uint32_t steps) {
  gpu::open_job job;
  job.ticket = {core::request_id{id}, 1};
  job.recipe.steps = steps;
  job.recipe.guidance = 7.5f;
  job.recipe.px = {16, 16};
  job.recipe.seed = id;
  job.text = {"a lighthouse " + std::to_string(id), "fog"};
  job.from = grant(ipc::slot_kind::state);
  job.state = grant(ipc::slot_kind::state);
  job.image = grant(ipc::slot_kind::image);
  auto bytes = size_t{0};
  if (payload_) {
    const core::latent_shape shape{4, 2, 2};
    auto latent = gpu::begin_state(*slots->buffer(job.from), shape, 0, 0);
    BOOST_REQUIRE(latent);
    std::ranges::copy(noise_of(id, shape.elements()), latent->begin());
    bytes = gpu::state_bytes(shape, 0);
  }
  BOOST_REQUIRE(slots->publish(job.from, 1, bytes));
  return job;
}

gpu::open_job rig::image_job(uint64_t id, uint32_t steps, float strength,
                             bool masked) {
  auto x = job(id, steps);
  x.recipe.from_image = true;
  x.recipe.strength = strength;
  x.source = grant(ipc::slot_kind::image);
  auto bytes = uint64_t{0};
  if (payload_) {
    const auto into =
      gpu::begin_source(*slots->buffer(x.source), x.recipe.px, masked);
    BOOST_REQUIRE(into);
    for (auto i = size_t{0}; i < into->pixels.size(); ++i)
      into->pixels[i] = static_cast<uint8_t>(i * (id + 7));
    for (auto i = size_t{0}; i < into->mask.size(); ++i)
      into->mask[i] = i % 16 < 8 ? 0 : 255;
    bytes = gpu::source_bytes(x.recipe.px, masked);
  }
  BOOST_REQUIRE(slots->publish(x.source, 1, bytes));
  return x;
}

gpu::open_job rig::again(const gpu::open_job& job) {
  auto next = job;
  ++next.ticket.attempt;
  if (published(job.state) > 0)
    next.from = job.state;
  next.state = grant(ipc::slot_kind::state);
  next.image = grant(ipc::slot_kind::image);
  return next;
}

std::vector<ipc::slot_ref> rig::keep(gpu::open_job& job,
                                     const std::vector<uint32_t>& steps) {
  std::vector<ipc::slot_ref> into;
  for (const auto n : steps) {
    into.push_back(grant(ipc::slot_kind::capture));
    job.captures.push_back({n, into.back()});
  }
  return into;
}

gpu::open_job rig::from_kept(const gpu::open_job& job,
                             const ipc::slot_ref& kept, uint32_t steps) {
  auto next = job;
  ++next.ticket.attempt;
  next.captures.clear();
  next.from = grant(ipc::slot_kind::state);
  next.state = grant(ipc::slot_kind::state);
  next.image = grant(ipc::slot_kind::image);
  const auto bytes = slots->view(kept);
  BOOST_REQUIRE(bytes);
  const auto into = slots->buffer(next.from);
  BOOST_REQUIRE(into);
  BOOST_REQUIRE_LE(bytes->size(), into->size());
  std::ranges::copy(*bytes, into->begin());
  BOOST_REQUIRE(slots->publish(next.from, steps + 1, bytes->size()));
  return next;
}

std::vector<std::byte> rig::expected(const gpu::open_job& job) const {
  const core::latent_shape shape{4, 2, 2};
  auto latent = noise_of(job.ticket.id.value, shape.elements());
  std::optional<gpu::source_parts> source;
  if (job.source)
    source = *gpu::parse_source(*slots->view(job.source));
  const auto sum = source ? gpu::test_card_sum(*source) : 0;
  for (auto i = 0u; i < core::steps_to_run(job.recipe); ++i)
    gpu::test_card_step(latent, job.recipe, job.text, i, sum);
  std::vector<std::byte> rgb(gpu::test_card_bytes(job.recipe.px));
  gpu::test_card_decode(latent, shape, job.recipe, job.text, rgb,
                        source ? &*source : nullptr);
  return rgb;
}

std::vector<std::byte> rig::image(const gpu::open_job& job) const {
  auto bytes = slots->view(job.image);
  BOOST_REQUIRE(bytes);
  return {bytes->begin(), bytes->end()};
}

uint64_t rig::published(const ipc::slot_ref& slot) const {
  auto seq = slots->published(slot);
  BOOST_REQUIRE(seq);
  return *seq;
}

std::vector<float> noise_of(uint64_t id, size_t elements) {
  std::vector<float> latent(elements);
  for (auto i = size_t{0}; i < elements; ++i)
    latent[i] = static_cast<float>((id * 31 + i * 17) % 97) / 32 - 1.5f;
  return latent;
}

} // namespace atelier::test
