// SPDX-License-Identifier: Apache-2.0

// Predictions for rows and devices: admission, deadlines, the worker that
// answers soonest.

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace atelier::actors {

void hub::expire_in_time(row& r) {
  if (r.due() == core::never
      || !std::holds_alternative<planning::answer_with>(r.course.late()))
    return;
  requests_.set_due(r, r.request->deadline - config_.answer_margin
                         - 2 * forecast_.finishing());
}

void hub::count_work(core::request_id id, const row& r) {
  if (r.course.phase() == phase::finishing)
    return forecast_.uncount(id);
  cluster();
  forecast_.count(id, r.course.recipe(), steps_left(r), r.request->tenant);
}

std::optional<hub::refusal> hub::refusal_of(const row& r,
                                            core::variant_id variant,
                                            core::time_point now) {
  const auto& plan = *rules_.plan();
  const auto& there = cluster();
  // No request is refused on a guess.
  if (const auto wait =
        forecast_.wait_beyond(variant, config_.limits.queue, r.request->tenant))
    return refusal{
      core::fail(core::ec::overloaded,
                 "accepted requests are predicted to take {:.1f} s more, "
                 "the limit (limits.queue_s) is {:.1f}",
                 core::to_seconds(*wait),
                 core::to_seconds(config_.limits.queue)),
      std::max(plan.retry_after,
               planning::come_back_after(*wait - config_.limits.queue, 1))};
  // Rates that were planned with a guess are a guess.
  if (forecast_.guesses(plan, there))
    return std::nullopt;
  const auto wait =
    rules_.admit(*r.request, r.course.known(), *config_.profile,
                 requests_.is_below_mean(r.request->tenant), now);
  if (wait == core::timespan{0})
    return std::nullopt;
  return refusal{
    core::fail(core::ec::overloaded,
               "more requests arrive than the plan admits, of priority {} "
               "the next one in {:.1f} s",
               core::to_string(r.request->prio), core::to_seconds(wait)),
    std::max(plan.retry_after, wait)};
}

core::timespan hub::retry_after() const {
  cluster();
  return forecast_.come_back(config_.limits.requests,
                             rules_.plan()->retry_after);
}

void hub::tell_slow(core::time_point now) {
  const auto slow = forecast_.slow_news(now);
  if (!slow)
    return;
  for (auto& [id, w] : workers_.all()) {
    const bool is = std::binary_search(slow->begin(), slow->end(), id);
    if (w.slow() == is)
      continue;
    workers_.set_slow(w, is);
    hosting_.changed();
    offer(w);
    if (is)
      core::log_warn("device {} takes several times as long as others for the "
                     "same steps: plans leave it out",
                     w.device);
    else
      core::log_info("plans use device {} again", w.device);
  }
  for (const auto id : *slow)
    rehome(id, now);
  ports_.watch->cluster_changed(cluster());
}

void hub::tell_costs() {
  auto news = forecast_.cost_news();
  if (!news)
    return;
  workers_.show(std::move(*news));
  ports_.watch->cluster_changed(cluster());
}

} // namespace atelier::actors
