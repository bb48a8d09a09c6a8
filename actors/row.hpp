// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/actors/scheduler/account.hpp>
#include <atelier/actors/scheduler/course.hpp>
#include <atelier/actors/scheduler/holding.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/route.hpp>
#include <atelier/planning/route_slots.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

using core::phase;

/// State of a row. ASKING -> WAITING -> RUNNING -> WAITING | ANSWERED | FAILED
/// | CANCELLED; the last three are terminal.
enum class row_state : uint8_t {
  /// Waits for facts and is in no queue.
  asking,
  waiting,
  running,
  answered,
  failed,
  cancelled
};

constexpr bool is_terminal(row_state x) {
  return x == row_state::answered || x == row_state::failed
      || x == row_state::cancelled;
}

/// The scheduler's record of a request: the only place where its answer is
/// committed.
struct row {
  std::shared_ptr<const core::request> request;
  row_state state = row_state::waiting;
  /// Number of the last dispatch that moves the row; a reply counts only if it
  /// carries this number.
  uint32_t attempt = 0;
  /// The last number of a dispatch, including side dispatches.
  uint32_t dispatches = 0;
  /// Number of dispatches that moved the row. Random choices of queues use it,
  /// so that they do not depend on earlier questions.
  uint32_t moves = 0;
  actors::course course;
  /// The slots that it holds.
  holding held;
  core::time_point waiting_since;
  /// When it expires: at its deadline, or earlier if it already has an image
  /// that must still be encoded.
  core::time_point due = core::never;
  actors::account account;
};

/// Whether a row may hold slots that others wait for.
inline bool is_under_way(const row& r) {
  return r.course.leg() > 0 || r.held.any() || !r.course.known().done.empty();
}

/// Returns the number of steps that are left in a row's leg.
inline uint32_t steps_left(const row& r) {
  return r.course.steps_left(r.held.steps());
}

} // namespace atelier::actors
