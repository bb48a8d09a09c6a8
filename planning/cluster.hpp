// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::planning {

/// One living denoise worker as policies see it.
struct worker_view {
  core::worker_id worker;
  /// "cpu", "cuda": which profile applies.
  std::string device_kind;
  std::vector<core::variant_id> hosting;
  uint32_t max_batch = 1;
  uint32_t seats_free = 0;
  uint32_t seats_taken = 0;
  /// Steps that its rows still have to run.
  uint64_t steps_left = 0;
  uint32_t level = 0;

  friend bool operator==(const worker_view&, const worker_view&) = default;
};

/// All living denoise workers, by rising worker_id.
struct cluster_view {
  std::vector<worker_view> workers;
};

/// One stage that waits in a lane.
struct waiting {
  core::request_id request;
  core::priority prio = core::priority::normal;
  core::time_point since;
  core::time_point deadline = core::never;
  /// The time that the rest of the request will take at least.
  core::timespan still_needs{0};
  bool may_answer_best = false;

  friend bool operator==(const waiting&, const waiting&) = default;
};

/// Counts of one window, as the monitor keeps them: the raw material of every
/// policy's estimators.
struct demand_window {
  core::time_point begin;
  core::timespan length{0};
  uint64_t arrived = 0;
  uint64_t refused = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t late = 0;

  friend bool operator==(const demand_window&, const demand_window&) = default;
};

/// What is asked of the cluster: finished windows, oldest first, and what
/// waits.
struct demand {
  std::vector<demand_window> windows;
  uint64_t backlog = 0;
};

} // namespace atelier::planning
