// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/gpu/device/detail/test_card_rows.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/gpu/test_card.hpp>
#include <atelier/planning/route.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <utility>

namespace atelier::gpu::detail {

namespace {

/// Calls `f` and turns an exception into an error.
template <class F>
auto guarded(F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return core::fail(core::ec::out_of_resources, "no memory for a row");
  } catch (const std::exception& e) {
    return core::fail(core::ec::internal, "a row failed: {}", e.what());
  }
}

core::error not_open(core::ticket who) {
  return core::fail(core::ec::not_found, "request {}, attempt {}: no open row",
                    who.id.value, who.attempt);
}

} // namespace

test_card_row::test_card_row(const open_job& job,
                             const planning::profile& known,
                             ipc::slot_store& slots)
  : job_(job), slots_(slots) {
  if (auto opened = guarded([&] { return read(known); }); !opened)
    fail(opened.why());
}

core::result<void> test_card_row::read(const planning::profile& known) {
  const auto& how = job_.recipe;
  if (how.variant.value >= known.variants.size())
    return core::fail(core::ec::not_found, "variant {} outside 0..{}",
                      how.variant.value, known.variants.size());
  shape_ = planning::latent_of(known.variants[how.variant.value], how.px);
  if (auto writable = slots_.buffer(job_.state); !writable)
    return writable.why();
  if (slots_.capacity(ipc::slot_kind::state) == 0) {
    auto seq = slots_.published(job_.from);
    if (!seq)
      return seq.why();
    if (*seq == 0)
      return core::fail(core::ec::not_found, "state slot {} holds no state",
                        job_.from.slot);
    steps_done_ = static_cast<uint32_t>(*seq - 1);
  } else {
    auto seq = slots_.read(job_.from, bytes_);
    if (!seq)
      return seq.why();
    auto parts = parse_state(bytes_);
    if (!parts)
      return parts.why();
    const auto& head = parts->head;
    const core::latent_shape held{head.channels, head.height, head.width};
    if (held != shape_)
      return core::fail(core::ec::bad_payload,
                        "the state's latent is [{}, {}, {}], not [{}, {}, {}]",
                        held.channels, held.height, held.width, shape_.channels,
                        shape_.height, shape_.width);
    if (auto right = is_of_publication(head, *seq); !right)
      return right.why();
    steps_done_ = head.steps_done;
    // An earlier attempt's preview is at the end.
    bytes_.resize(bytes_.size() - parts->preview.rgb.size());
    parts->head.preview_width = parts->head.preview_height = 0;
    std::memcpy(bytes_.data(), &parts->head, sizeof(state_head));
  }
  if (const auto steps = core::steps_to_run(how); steps_done_ > steps) {
    const auto held = std::exchange(steps_done_, steps);
    return core::fail(core::ec::bad_payload,
                      "a state after {} steps for a request of {}", held,
                      steps);
  }
  auto source = find_source();
  if (!source)
    return source.why();
  if (*source)
    source_sum_ = test_card_sum(**source);
  return {};
}

core::result<std::optional<source_parts>> test_card_row::find_source() const {
  using found = std::optional<source_parts>;
  const auto& how = job_.recipe;
  if (how.from_image != static_cast<bool>(job_.source))
    return core::fail(core::ec::bad_payload, "a source {}",
                      job_.source ? "of a run that starts from noise"
                                  : "is missing");
  if (!job_.source)
    return found{};
  const auto bytes = slots_.view(job_.source);
  if (!bytes)
    return bytes.why();
  if (slots_.capacity(ipc::slot_kind::image) == 0)
    return found{};
  const auto parts = parse_source(*bytes);
  if (!parts)
    return parts.why();
  if (parts->px != how.px)
    return core::fail(core::ec::bad_payload, "the source is {}x{}, not {}x{}",
                      parts->px.width, parts->px.height, how.px.width,
                      how.px.height);
  return found{*parts};
}

std::span<float> test_card_row::latent() {
  return {reinterpret_cast<float*>(bytes_.data() + sizeof(state_head)),
          shape_.elements()};
}

bool test_card_row::due(uint32_t step) const {
  return step == core::steps_to_run(job_.recipe)
      || (job_.publish_every > 0 && step % job_.publish_every == 0);
}

void test_card_row::advance(uint32_t steps) {
  if (failure_.code != core::ec::none)
    return;
  const auto end = steps_done_ + steps;
  auto last_due = end;
  while (last_due > steps_done_ && !due(last_due))
    --last_due;
  auto done = guarded([&]() -> core::result<void> {
    // The source is readable until the row is closed; a stale slot is detected
    // here.
    if (job_.source)
      if (auto seen = slots_.view(job_.source); !seen)
        return seen.why();
    while (steps_done_ < end) {
      if (!bytes_.empty())
        test_card_step(latent(), job_.recipe, job_.text, steps_done_,
                       source_sum_);
      ++steps_done_;
      if (steps_done_ == last_due)
        if (auto out = publish(); !out)
          return out;
      for (const auto& x : job_.captures)
        if (x.steps == steps_done_)
          capture(x.into);
    }
    return {};
  });
  if (!done)
    fail(done.why());
}

core::result<void> test_card_row::publish() {
  auto into = slots_.buffer(job_.state);
  if (!into)
    return into.why();
  const auto bytes = write_state(
    *into, wants_preview(job_, steps_done_, core::steps_to_run(job_.recipe)));
  if (!bytes)
    return bytes.why();
  auto out = slots_.publish(job_.state, uint64_t{steps_done_} + 1, *bytes);
  if (out)
    published_ = true;
  return out;
}

void test_card_row::capture(const ipc::slot_ref& into) {
  const auto kept = guarded([&]() -> core::result<void> {
    const auto room = slots_.buffer(into);
    if (!room)
      return room.why();
    const auto bytes = write_state(*room, false);
    if (!bytes)
      return bytes.why();
    auto out = slots_.publish(into, 1, *bytes);
    if (out)
      captured_.push_back(steps_done_);
    return out;
  });
  if (!kept)
    core::log_warn("request {}: its state after {} steps is not kept: {}",
                   job_.ticket.id.value, steps_done_, kept.why().text);
}

core::result<size_t> test_card_row::write_state(std::span<std::byte> into,
                                                bool with_preview) {
  if (bytes_.empty())
    return size_t{0};
  if (bytes_.size() > into.size())
    return core::fail(core::ec::out_of_resources,
                      "a state of {} bytes does not fit its slot of {} bytes",
                      bytes_.size(), into.size());
  auto written = bytes_.size();
  state_head head;
  std::memcpy(&head, bytes_.data(), sizeof(head));
  head.steps_done = steps_done_;
  const core::extent px{shape_.width, shape_.height};
  if (with_preview && written + test_card_bytes(px) <= into.size()) {
    head.preview_width = px.width;
    head.preview_height = px.height;
    test_card_preview(latent(), shape_, into.subspan(written));
    written += test_card_bytes(px);
  }
  std::memcpy(into.data(), bytes_.data(), bytes_.size());
  std::memcpy(into.data(), &head, sizeof(head));
  return written;
}

core::result<uint64_t> test_card_row::decode() {
  if (failure_.code != core::ec::none)
    return failure_;
  return guarded([&]() -> core::result<uint64_t> {
    auto into = slots_.buffer(job_.image);
    if (!into)
      return into.why();
    const auto source = find_source();
    if (!source)
      return source.why();
    auto bytes = size_t{0};
    if (slots_.capacity(ipc::slot_kind::image) > 0) {
      bytes = test_card_bytes(job_.recipe.px);
      if (bytes > into->size())
        return core::fail(core::ec::out_of_resources,
                          "an image of {} bytes does not fit its slot of {} "
                          "bytes",
                          bytes, into->size());
      // Without a latent, an image is still required if the store keeps bytes.
      const std::vector<float> blank(bytes_.empty() ? shape_.elements() : 0);
      const auto drawn = bytes_.empty() ? std::span<const float>{blank}
                                        : std::span<const float>{latent()};
      test_card_decode(drawn, shape_, job_.recipe, job_.text,
                       into->first(bytes), *source ? &**source : nullptr);
    }
    if (auto out = slots_.publish(job_.image, 1, bytes); !out)
      return out.why();
    return uint64_t{bytes};
  });
}

double test_card_row::score(const planning::profile& known) const {
  if (job_.judge.empty())
    return 0;
  const bool there =
    std::any_of(known.cascades.begin(), known.cascades.end(),
                [&](const auto& x) { return x.judge == job_.judge; });
  return there ? test_card_score(job_.recipe) : planning::unjudged;
}

void test_card_row::fail(core::error why) {
  failure_ = std::move(why);
}

row_report test_card_row::report() {
  row_report out{job_.ticket, steps_done_, published_, failure_};
  out.captured = std::exchange(captured_, {});
  return out;
}

test_card_rows::test_card_rows(std::shared_ptr<const planning::profile> known,
                               std::shared_ptr<ipc::slot_store> slots)
  : known_(std::move(known)), slots_(std::move(slots)) {}

void test_card_rows::open(const open_job& job) {
  auto [row, fresh] = rows_.try_emplace(job.ticket, job, *known_, *slots_);
  if (!fresh)
    row->second.fail(core::fail(core::ec::internal,
                                "request {}, attempt {}: opened twice",
                                job.ticket.id.value, job.ticket.attempt));
}

void test_card_rows::close(core::ticket who) {
  rows_.erase(who);
}

test_card_row* test_card_rows::find(core::ticket who) {
  const auto row = rows_.find(who);
  return row != rows_.end() ? &row->second : nullptr;
}

std::vector<test_card_row*> test_card_rows::sound(
  const std::vector<core::ticket>& who) {
  std::vector<test_card_row*> found;
  found.reserve(who.size());
  for (const auto& x : who)
    if (auto* row = find(x); row && row->failure().code == core::ec::none)
      found.push_back(row);
  return found;
}

uint32_t test_card_rows::steps_left(const std::vector<core::ticket>& who,
                                    uint32_t most) {
  return common_steps(sound(who), most);
}

void test_card_rows::step(const std::vector<core::ticket>& who) {
  for (auto* row : sound(who))
    row->advance(1);
}

std::optional<decode_report> test_card_rows::decode_part(core::ticket who) {
  decode_report report;
  report.ticket = who;
  auto* row = find(who);
  auto bytes = row ? row->decode() : core::result<uint64_t>{not_open(who)};
  if (bytes) {
    report.bytes = *bytes;
    report.score = row->score(*known_);
  } else {
    report.failure = bytes.why();
  }
  return report;
}

std::vector<row_report> test_card_rows::report(
  const std::vector<core::ticket>& who) {
  std::vector<row_report> reports;
  reports.reserve(who.size());
  for (const auto& x : who)
    if (auto* row = find(x))
      reports.push_back(row->report());
    else
      reports.push_back({x, 0, false, not_open(x)});
  return reports;
}

uint32_t common_steps(const std::vector<test_card_row*>& rows, uint32_t most) {
  if (rows.empty())
    return 0;
  for (const auto* row : rows)
    most = std::min(most, row->steps_left());
  return most;
}

} // namespace atelier::gpu::detail
