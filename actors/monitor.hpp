// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/interfaces.hpp>

#include <caf/stateful_actor.hpp>

#include <deque>

namespace atelier::actors {

/// What the monitor is made of.
struct monitor_config {
  scheduler_actor hub;
  /// Length of one window, more than 0.
  core::timespan window = std::chrono::seconds{10};
  /// Windows kept, at least 1.
  uint32_t windows = 60;
};

struct monitor_state {
  static inline const char* name = "monitor";

  monitor_config config;
  counters before;
  core::time_point begin;
  std::deque<planning::demand_window> windows;
  uint64_t backlog = 0;

  /// Ends the window at `now` with what the counts rose since its begin.
  void close(const counters& counts, core::time_point now);
};

/// Keeps windows of raw counts, which each policy's estimators read.
/// Threads: never blocks.
monitor_actor::behavior_type monitor(
  monitor_actor::stateful_pointer<monitor_state> self, monitor_config config);

} // namespace atelier::actors
