// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/detail/drawing_device.hpp>
#include <atelier/runtime/make_executor.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

namespace atelier::runtime::detail {

using planning::held;

struct drawing_device::open_row {
  gpu::open_job job;
  std::string prompt;
  uint32_t steps_done = 0;

  uint32_t steps() const {
    return core::steps_to_run(job.recipe);
  }
};

drawing_device::drawing_device(const config::settings& settings,
                               std::shared_ptr<const planning::profile> known,
                               core::variant_id variant, uint32_t most_captures)
  : settings_(settings),
    known_(std::move(known)),
    variant_(variant),
    most_captures_(most_captures) {}

core::result<void> drawing_device::load() {
  auto alone = settings_.devices.front();
  alone.variants = {known_->variants[variant_.value].name};
  const auto rows = alone.max_batch;
  const auto& a = settings_.arena;
  slots_ = std::make_shared<ipc::heap_store>(
    1,
    std::array<uint32_t, ipc::slot_kinds>{2 * rows, rows,
                                          rows * most_captures_},
    std::array<uint64_t, ipc::slot_kinds>{
      a.state_slot_bytes, a.image_slot_bytes, a.state_slot_bytes});
  auto made = make_executor(settings_, alone, known_, slots_);
  if (!made)
    return made.why();
  device_ = std::move(*made);
  reports_.connect(*device_);
  return {};
}

core::extent drawing_device::px() const {
  return known_->variants[variant_.value].native_px;
}

ipc::slot_ref drawing_device::grant(ipc::slot_kind kind, uint32_t slot) {
  ipc::slot_ref x;
  x.arena = 1;
  x.kind = kind;
  x.slot = slot;
  x.generation = ++generation_;
  slots_->open(x);
  return x;
}

core::result<void> drawing_device::write_start(const drawing& wanted,
                                               const core::recipe& recipe,
                                               const ipc::slot_ref& into) {
  if (wanted.state != nullptr) {
    const auto buffer = slots_->buffer(into);
    if (!buffer)
      return buffer.why();
    ATELIER_EXPECTS(wanted.state->size() <= buffer->size(),
                    "a state was kept from such a slot");
    std::memcpy(buffer->data(), wanted.state->data(), wanted.state->size());
    return slots_->publish(into, uint64_t{wanted.steps_done} + 1,
                           wanted.state->size());
  }
  std::vector<core::note> notes;
  planning::worker_context here{
    *slots_, {}, {}, [] { return core::time_point::clock::now(); }, notes};
  here.writes[held::state] = into;
  actors::prepare_stage::work order;
  order.recipe = recipe;
  order.latent =
    planning::latent_of(known_->variants[variant_.value], recipe.px);
  const auto done = actors::prepare_stage{}.run(order, here);
  return done ? core::result<void>{} : done.why();
}

core::result<drawing_device::open_row> drawing_device::open(
  const drawing& wanted, uint32_t place) {
  core::request request;
  request.id = core::request_id{++requests_};
  request.text.positive = wanted.prompt;
  request.seed = wanted.seed;
  open_row row;
  row.prompt = wanted.prompt;
  row.steps_done = wanted.steps_done;
  auto& job = row.job;
  job.ticket = {request.id, 1};
  job.recipe = planning::recipe_of(request, {}, variant_, *known_);
  job.text = request.text;
  job.from = grant(ipc::slot_kind::state, 2 * place);
  job.state = grant(ipc::slot_kind::state, 2 * place + 1);
  job.image = grant(ipc::slot_kind::image, place);
  // Only the last state is needed.
  job.publish_every = job.recipe.steps;
  for (uint32_t i = 0; i < wanted.captures.size(); ++i)
    job.captures.push_back(
      {wanted.captures[i],
       grant(ipc::slot_kind::capture, place * most_captures_ + i)});
  if (auto ok = write_start(wanted, job.recipe, job.from); !ok)
    return ok.why();
  device_->open(job);
  return row;
}

core::result<void> drawing_device::run(std::vector<open_row>& rows,
                                       const std::function<bool()>& goes_on) {
  for (;;) {
    gpu::run_job job;
    for (const auto& row : rows)
      if (row.steps_done < row.steps())
        job.rows.push_back(row.job.ticket);
    if (job.rows.empty())
      return {};
    if (!goes_on())
      return core::fail(core::ec::cancelled, "interrupted");
    device_->run(job);
    const auto report = reports_.run();
    for (const auto& told : report.rows) {
      const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const open_row& x) {
          return x.job.ticket == told.ticket;
        });
      ATELIER_EXPECTS(row != rows.end(), "an executor reports open rows");
      if (told.failure.code != core::ec::none)
        return core::fail(told.failure.code, "'{}': {}", row->prompt,
                          told.failure.text);
      row->steps_done = told.steps_done;
    }
  }
}

core::result<drawn_image> drawing_device::finish(const open_row& row) {
  device_->decode(row.job.ticket);
  const auto report = reports_.decoded();
  if (report.failure.code != core::ec::none)
    return core::fail(report.failure.code, "'{}': {}", row.prompt,
                      report.failure.text);
  drawn_image out;
  std::vector<std::byte> bytes;
  if (const auto read = slots_->read(row.job.image, bytes); !read)
    return read.why();
  const auto size = row.job.recipe.px.pixels() * 3;
  ATELIER_EXPECTS(bytes.size() >= size, "an image slot begins with the pixels");
  out.rgb.resize(size);
  std::memcpy(out.rgb.data(), bytes.data(), size);
  for (const auto& capture : row.job.captures) {
    auto& state = out.states.emplace_back();
    if (const auto read = slots_->read(capture.into, state); !read)
      return core::fail(read.why().code, "'{}': its state after {} steps: {}",
                        row.prompt, capture.steps, read.why().text);
  }
  return out;
}

core::result<void> drawing_device::draw_together(
  std::span<const drawing> wanted, const std::function<bool()>& goes_on,
  std::vector<drawn_image>& into) {
  std::vector<open_row> rows;
  const auto work = [&]() -> core::result<void> {
    for (uint32_t i = 0; i < wanted.size(); ++i) {
      auto row = open(wanted[i], i);
      if (!row)
        return row.why();
      rows.push_back(std::move(*row));
    }
    if (auto ran = run(rows, goes_on); !ran)
      return ran;
    for (const auto& row : rows) {
      auto image = finish(row);
      if (!image)
        return image.why();
      into.push_back(std::move(*image));
    }
    return {};
  };
  auto done = work();
  for (const auto& row : rows)
    device_->close(row.job.ticket);
  return done;
}

core::result<std::vector<drawn_image>> drawing_device::draw(
  std::span<const drawing> wanted, const std::function<bool()>& goes_on) {
  std::vector<drawn_image> out;
  const size_t together = settings_.devices.front().max_batch;
  for (size_t i = 0; i < wanted.size(); i += together)
    if (auto ok = draw_together(
          wanted.subspan(i, std::min(together, wanted.size() - i)), goes_on,
          out);
        !ok)
      return ok.why();
  return out;
}

} // namespace atelier::runtime::detail
