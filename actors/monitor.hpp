// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace atelier::actors {

/// Configuration of the monitor.
struct monitor_config {
  scheduler_actor scheduler;
  /// Length of one window, more than 0.
  core::timespan window = std::chrono::seconds{10};
  /// Number of windows kept, at least 1.
  uint32_t windows = 60;
};

struct monitor_state {
  static inline const char* name = "monitor";

  monitor_config config;
  counters before;
  core::time_point begin;
  std::deque<planning::demand_window> windows;
  uint64_t backlog = 0;
  std::vector<uint64_t> waiting;
  std::vector<uint64_t> waiting_shared;
  caf::actor_addr planner;
  /// Requests per second for which the last plan was made; below 0 if no plan
  /// was requested yet.
  double planned_rate = -1;

  /// Ends the window at `now` with the increase of the counts since its start.
  void close(const counters& counts, core::time_point now);

  /// Returns the demand for which a plan is to be made, and remembers its rate.
  planning::demand ask();

  /// Returns a jump if the last window differs from the planned load; the next
  /// jump is then measured from that window.
  std::optional<load_jumped> jump();
};

/// Keeps windows of raw counts, which each policy's estimators read, and
/// notifies the planner when a window's arrivals differ from the planned rate
/// by more than planning::diffserve::demand_jumped allows.
/// Threads: never blocks.
monitor_actor::behavior_type monitor(self_of<monitor_actor, monitor_state> self,
                                     monitor_config config);

} // namespace atelier::actors
