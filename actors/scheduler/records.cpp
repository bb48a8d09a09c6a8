// SPDX-License-Identifier: Apache-2.0

// Long, because each event is both counted and drawn, in one place.

#include <atelier/actors/scheduler/records.hpp>
#include <atelier/planning/route.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace atelier::actors {

namespace {

/// Maximum number of rows that one event names.
constexpr size_t most_named = 64;

/// Number of retrievals that the counts keep.
constexpr size_t most_retrievals = 64;

constexpr size_t edit_bins = 8;

/// A bin is 0.005 wide; the last one holds 1.
constexpr size_t confidence_bins = 201;

/// Batch sizes that are counted separately.
constexpr uint32_t most_batches = 64;

using kind = timeline_event::kind;

std::string_view name_of(core::phase x) {
  switch (x) {
    case core::phase::preparing:
      return "preprocess";
    case core::phase::denoising:
      return "denoise";
    case core::phase::finishing:
      return "postprocess";
  }
  return "unknown";
}

core::time_point at(int64_t ns) {
  return core::time_point{core::timespan{ns}};
}

timeline_event on_request(kind what, std::string_view name,
                          core::request_id id) {
  timeline_event e;
  e.type = what;
  e.name = name;
  e.request = id;
  return e;
}

/// Cuts off the part outside the span, since a worker's clock differs from the
/// scheduler's.
timeline_event within(timeline_event e, core::time_point from,
                      core::time_point to) {
  e.from = std::clamp(e.from, from, to);
  e.to = std::clamp(e.to, e.from, to);
  return e;
}

void name_rows(timeline_event& e, std::span<const core::ticket> rows) {
  for (const auto who : rows)
    if (e.rows.size() < most_named)
      e.rows.push_back(who.id);
}

void raise(std::vector<uint64_t>& counts, size_t at) {
  if (counts.size() <= at)
    counts.resize(at + 1, 0);
  ++counts[at];
}

void raise(std::vector<std::pair<uint32_t, uint64_t>>& counts, uint32_t key) {
  const auto at = std::find_if(counts.begin(), counts.end(),
                               [&](const auto& s) { return s.first == key; });
  if (at == counts.end())
    counts.emplace_back(key, 1);
  else
    ++at->second;
}

/// Returns the increment; leaving adds the largest value, which acts as -1.
constexpr uint64_t step_of(bool comes) {
  return comes ? uint64_t{1} : ~uint64_t{0};
}

} // namespace

std::string to_string(const timeline_track& x) {
  if (!x.device.empty())
    return x.device;
  return fmt::format("{} {}", to_string(x.role), x.index);
}

timeline_track track_of(const worker_address& where,
                        const std::string& device) {
  return {where.role, where.role == role::denoise_step ? 0 : where.index,
          device};
}

records::records(size_t variants, std::shared_ptr<timeline> drawing)
  : variants_(variants), drawing_(std::move(drawing)) {}

const counters& records::counts() const {
  return counts_;
}

recovery_counts records::recovery(core::time_point now) const {
  return recovery_.counts(now);
}

// -- requests -----------------------------------------------------------------

void records::extra_work(core::variant_id variant, double times,
                         double pixels) {
  counts_.extra_work.resize(variants_, 0);
  counts_.extra_work[variant.value] += times;
  counts_.extra_pixels.resize(variants_, 0);
  counts_.extra_pixels[variant.value] += pixels;
}

void records::accepted(const core::request& x) {
  if (!drawing_)
    return;
  auto e = on_request(kind::accepted, "request", x.id);
  e.from = e.to = x.arrived;
  e.texts.emplace_back("priority", core::to_string(x.prio));
  if (x.deadline != core::never)
    e.numbers.emplace_back("deadline_ms", (x.deadline - x.arrived)
                                            / std::chrono::milliseconds{1});
  if (!x.trace.empty())
    e.texts.emplace_back("trace", x.trace);
  drawing_->add(std::move(e));
}

void records::refused(const core::request& x, const core::error& why,
                      core::time_point now) {
  ++counts_.refused;
  if (!drawing_)
    return;
  timeline_event e;
  e.type = kind::instant;
  e.name = "refused";
  e.from = e.to = now;
  e.numbers.emplace_back("request", static_cast<int64_t>(x.id.value));
  e.texts.emplace_back("why", core::to_string(why));
  if (!x.trace.empty())
    e.texts.emplace_back("trace", x.trace);
  drawing_->add(std::move(e));
}

void records::draw_end(const ending& x, std::string_view how,
                       const core::error& why, core::time_point now) {
  if (!drawing_)
    return;
  auto e = on_request(kind::ended, "request", x.request);
  e.from = e.to = now;
  e.texts.emplace_back("outcome", how);
  if (why.code != core::ec::none)
    e.texts.emplace_back("why", core::to_string(why));
  if (!x.variant.empty())
    e.texts.emplace_back("variant", x.variant);
  e.numbers.emplace_back("steps_run", x.steps_run);
  drawing_->add(std::move(e));
}

void records::turned_away(const ending& x, const core::error& why,
                          core::time_point now) {
  draw_end(x, "refused", why, now);
}

void records::answered(const ending& x, core::time_point now) {
  ++counts_.answered;
  draw_end(x, "answered", {}, now);
}

void records::failed(const ending& x, const core::error& why,
                     core::time_point now) {
  ++counts_.failed;
  if (why.code == core::ec::deadline_missed)
    ++counts_.late;
  draw_end(x, "failed", why, now);
}

void records::cancelled(const ending& x, const core::error& why,
                        core::time_point now) {
  ++counts_.cancelled;
  draw_end(x, "cancelled", why, now);
}

void records::rest() {
  recovery_.rest();
}

// -- questions before the route -----------------------------------------------

void records::retrieved(const planning::retrieval_sample& x) {
  auto& kept = counts_.retrievals;
  if (kept.size() >= most_retrievals)
    kept.erase(kept.begin());
  kept.push_back(x);
  ++counts_.retrieved;
}

void records::checked(const planning::checked_prediction& x) {
  counts_.predictions.add(x);
}

void records::allowed(uint32_t steps) {
  raise(counts_.allowed, steps);
}

void records::predicted(std::span<const uint32_t> tolerated) {
  for (size_t ladder = 0; ladder < tolerated.size(); ++ladder) {
    if (counts_.predicted.size() <= ladder)
      counts_.predicted.resize(ladder + 1);
    raise(counts_.predicted[ladder], tolerated[ladder]);
  }
}

void records::hit(uint32_t skip) {
  ++counts_.hits;
  raise(counts_.skips, skip);
}

void records::edit(double masked) {
  const auto bin = static_cast<size_t>(std::clamp(masked, 0.0, 1.0)
                                       * static_cast<double>(edit_bins));
  raise(counts_.edits, std::min(bin, edit_bins - 1));
}

// -- queues and dispatches ----------------------------------------------------

void records::waits(core::variant_id variant, bool comes) {
  if (counts_.waiting.size() <= variant.value) {
    counts_.waiting.resize(variants_, 0);
    counts_.placed.resize(variants_, 0);
  }
  counts_.waiting[variant.value] += step_of(comes);
  counts_.placed[variant.value] += comes ? 1 : 0;
}

void records::waits_shared(core::variant_id queue, bool comes) {
  counts_.waiting_shared.resize(variants_, 0);
  counts_.waiting_shared.at(queue.value) += step_of(comes);
}

void records::waited(core::request_id request, core::phase before,
                     core::time_point since, core::time_point now) {
  if (!drawing_)
    return;
  auto e = on_request(kind::span, "queue", request);
  e.from = since;
  e.to = now;
  e.texts.emplace_back("for", name_of(before));
  drawing_->add(std::move(e));
}

void records::returned(core::request_id request, core::phase at,
                       core::time_point since,
                       const std::optional<timeline_track>& worker,
                       const core::error& why, core::time_point now) {
  if (!drawing_)
    return;
  auto e = on_request(kind::span, name_of(at), request);
  e.from = since;
  e.to = now;
  if (worker)
    e.texts.emplace_back("worker", to_string(*worker));
  if (why.code != core::ec::none)
    e.texts.emplace_back("failed", core::to_string(why));
  drawing_->add(std::move(e));
}

void records::parts_of(core::request_id request, core::time_point since,
                       const denoised& told, core::time_point now) {
  if (!drawing_)
    return;
  const auto part = [&](std::string_view name, int64_t from_ns,
                        core::timespan took) {
    auto e = on_request(kind::span, name, request);
    e.from = at(from_ns);
    e.to = core::after(e.from, took);
    drawing_->add(within(std::move(e), since, now));
  };
  if (told.first_step_ns != 0 && told.text.count() > 0)
    part("text", told.first_step_ns - told.text.count(), told.text);
  if (told.first_step_ns != 0 && told.encode.count() > 0)
    part("source", told.first_step_ns - told.text.count() - told.encode.count(),
         told.encode);
  if (told.decoded_ns != 0)
    part("decode", told.decoded_ns - told.decode.count(), told.decode);
}

void records::worked(const std::optional<timeline_track>& worker,
                     std::string_view name, core::request_id request,
                     int64_t began_ns, core::timespan took) {
  if (!drawing_ || !worker || began_ns == 0)
    return;
  timeline_event e;
  e.name = name;
  e.from = at(began_ns);
  e.to = core::after(e.from, took);
  e.track = worker;
  // Steps run between the parts of an image.
  if (!e.track->device.empty())
    e.track->device += " pictures";
  e.rows.push_back(request);
  drawing_->add(std::move(e));
}

void records::stage_left_out(size_t stage) {
  auto& all = counts_.stages_left_out;
  if (all.size() <= stage)
    all.resize(stage + 1, 0);
  ++all[stage];
}

void records::fell_back(core::request_id request, bool resumes,
                        uint32_t steps_done, const core::error& why,
                        core::time_point now) {
  if (!drawing_)
    return;
  auto e =
    on_request(kind::instant, resumes ? "resumed" : "begun again", request);
  e.from = e.to = now;
  e.numbers.emplace_back("steps_done", steps_done);
  e.texts.emplace_back("why", core::to_string(why));
  drawing_->add(std::move(e));
}

void records::ran(const std::optional<timeline_track>& worker, const stepped& x,
                  std::span<const core::ticket> batch) {
  if (x.batch != 0) {
    const size_t rows = std::min(x.batch, most_batches);
    if (counts_.batches.size() <= rows)
      counts_.batches.resize(rows + 1, 0);
    counts_.batches[rows] += x.steps;
  }
  if (!drawing_ || !worker || x.ended_ns == 0)
    return;
  // Rows in decoding come first.
  const auto stepped_on = batch.last(std::min(size_t{x.batch}, batch.size()));
  const auto add = [&](std::string_view name, core::time_point from,
                       core::timespan took) {
    timeline_event e;
    e.name = name;
    e.from = from;
    e.to = core::after(from, took);
    e.track = worker;
    e.numbers.emplace_back("batch", x.batch);
    if (x.steps > 0)
      e.numbers.emplace_back("steps", x.steps);
    name_rows(e, stepped_on);
    drawing_->add(std::move(e));
  };
  const auto began = at(x.ended_ns) - x.took;
  if (x.opening.count() > 0)
    add("open", began - x.opening, x.opening);
  if (x.steps > 0)
    add("steps", began, x.took);
}

void records::stepped_on(core::request_id request, core::time_point now) {
  recovery_.stepped(request, now);
}

double records::judged(double told) {
  const bool judged = std::isfinite(told) && told >= 0;
  const auto score = judged ? std::min(told, 1.0) : planning::unjudged;
  counts_.confidences.resize(confidence_bins, 0);
  // An image that could not be judged is deferred like the worst one.
  ++counts_.confidences[static_cast<size_t>(std::max(score, 0.0)
                                            * (confidence_bins - 1))];
  if (!judged)
    ++counts_.judge_failures;
  return score;
}

void records::encoded(core::time_point now) {
  recovery_.encoded(now);
}

// -- workers and processes ----------------------------------------------------

void records::ready(core::process_id who, core::time_point now) {
  recovery_.ready(who, now);
}

void records::down(core::process_id who, core::time_point now) {
  recovery_.down(who, now);
}

void records::lost(core::process_id who, std::vector<core::request_id> denoised,
                   bool open, core::time_point now) {
  recovery_.lost(who, std::move(denoised), open, now);
}

void records::died(const timeline_track& worker,
                   std::span<const core::ticket> had, core::time_point now) {
  if (!drawing_)
    return;
  timeline_event e;
  e.type = kind::instant;
  e.name = "died";
  e.from = e.to = now;
  e.track = worker;
  name_rows(e, had);
  drawing_->add(std::move(e));
}

} // namespace atelier::actors
