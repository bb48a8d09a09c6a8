// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/exception_border.hpp>
#include <atelier/actors/monitor.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/diffserve/queueing.hpp>

#include <caf/actor_cast.hpp>

#include <algorithm>

namespace atelier::actors {

namespace {

/// Weight of the newest window in the rate for which a plan counts as made.
constexpr double newest_weight = 0.5;

std::vector<uint64_t> risen(const std::vector<uint64_t>& now,
                            const std::vector<uint64_t>& before) {
  auto out = now;
  for (size_t i = 0; i < std::min(out.size(), before.size()); ++i)
    out[i] -= std::min(out[i], before[i]);
  return out;
}

std::vector<std::pair<uint32_t, uint64_t>> risen(
  const std::vector<std::pair<uint32_t, uint64_t>>& now,
  const std::vector<std::pair<uint32_t, uint64_t>>& before) {
  std::vector<std::pair<uint32_t, uint64_t>> out;
  for (const auto& [key, n] : now) {
    uint64_t old = 0;
    for (const auto& [k, m] : before)
      old = k == key ? m : old;
    if (n > old)
      out.emplace_back(key, n - old);
  }
  return out;
}

std::vector<double> changed(std::vector<double> now,
                            const std::vector<double>& before) {
  for (size_t i = 0; i < std::min(now.size(), before.size()); ++i)
    now[i] -= before[i];
  return now;
}

} // namespace

void monitor_state::close(const counters& counts, core::time_point now) {
  planning::demand_window w;
  w.begin = begin;
  w.length = now - begin;
  w.arrived = counts.arrived - before.arrived;
  w.refused = counts.refused - before.refused;
  w.answered = counts.answered - before.answered;
  w.failed = counts.failed - before.failed;
  w.cancelled = counts.cancelled - before.cancelled;
  w.late = counts.late - before.late;
  w.searched = counts.searched - before.searched;
  w.hits = counts.hits - before.hits;
  w.predictions = counts.predictions;
  w.predictions -= before.predictions;
  w.skips = risen(counts.skips, before.skips);
  w.allowed = risen(counts.allowed, before.allowed);
  for (size_t i = 0; i < counts.predicted.size(); ++i)
    w.predicted.push_back(
      risen(counts.predicted[i], i < before.predicted.size()
                                   ? before.predicted[i]
                                   : std::vector<uint64_t>{}));
  w.confidences = risen(counts.confidences, before.confidences);
  w.edits = risen(counts.edits, before.edits);
  w.placed = risen(counts.placed, before.placed);
  w.extra_work = changed(counts.extra_work, before.extra_work);
  w.extra_pixels = changed(counts.extra_pixels, before.extra_pixels);
  const auto fresh = std::min<uint64_t>(counts.retrieved - before.retrieved,
                                        counts.retrievals.size());
  w.retrievals.assign(counts.retrievals.end()
                        - static_cast<std::ptrdiff_t>(fresh),
                      counts.retrievals.end());
  waiting = counts.waiting;
  waiting_shared = counts.waiting_shared;
  windows.push_back(std::move(w));
  while (windows.size() > config.windows)
    windows.pop_front();
  backlog = counts.arrived - counts.refused - counts.answered - counts.failed
          - counts.cancelled;
  before = counts;
  begin = now;
}

planning::demand monitor_state::ask() {
  planning::demand asked;
  asked.windows.assign(windows.begin(), windows.end());
  asked.backlog = backlog;
  asked.waiting = waiting;
  asked.waiting_shared = waiting_shared;
  planned_rate =
    windows.empty() ? 0 : planning::arrival_rate(asked.windows, newest_weight);
  return asked;
}

std::optional<load_jumped> monitor_state::jump() {
  if (windows.empty() || planned_rate < 0)
    return std::nullopt;
  const auto& last = windows.back();
  const auto seconds = core::to_seconds(last.length);
  if (!(seconds > 0)
      || !planning::diffserve::demand_jumped(static_cast<double>(last.arrived),
                                             planned_rate * seconds))
    return std::nullopt;
  const load_jumped found{static_cast<double>(last.arrived) / seconds,
                          planned_rate};
  planned_rate = found.came;
  return found;
}

monitor_actor::behavior_type monitor(self_of<monitor_actor, monitor_state> self,
                                     monitor_config config) {
  install_exception_border(self);
  self->state.config = std::move(config);
  self->state.begin = self->clock().now();
  self->delayed_send(self, self->state.config.window, tick_atom::value);
  return {
    [self](tick_atom) {
      self->delayed_send(self, self->state.config.window, tick_atom::value);
      self
        ->request(self->state.config.scheduler, caf::infinite,
                  counts_atom::value)
        .then([self](const counters& counts) {
          auto& st = self->state;
          st.close(counts, self->clock().now());
          const auto jump = st.jump();
          auto to = caf::actor_cast<caf::strong_actor_ptr>(st.planner);
          if (jump && to)
            self->send(caf::actor_cast<planner_actor>(to), *jump);
        });
    },
    [self](const watch_load& x) { self->state.planner = x.planner; },
    [self](demand_atom) { return self->state.ask(); },
  };
}

} // namespace atelier::actors
