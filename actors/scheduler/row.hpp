// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/account.hpp>
#include <atelier/actors/scheduler/course.hpp>
#include <atelier/actors/scheduler/holding.hpp>
#include <atelier/actors/scheduler/suspicions.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <memory>

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
/// committed. Each member is changed by its own verbs, `held` by those of
/// `slots`, and the rest by those of `requests`; suspicions, questions and
/// predicted work have tables of their own.
class row {
public:
  std::shared_ptr<const core::request> request;
  actors::course course;
  /// The slots that it holds.
  holding held;
  actors::account account;

  row_state state() const {
    return state_;
  }

  /// Returns when it began to wait in the queue in which it is, or was.
  core::time_point waiting_since() const {
    return waiting_since_;
  }

  /// Returns when it expires: at its deadline, or earlier if it already has an
  /// image that must still be encoded.
  core::time_point due() const {
    return due_;
  }

  /// Returns the number of the last dispatch that moves it; a reply counts only
  /// if it carries this number.
  uint32_t attempt() const {
    return attempt_;
  }

  /// Returns the number of its next dispatch.
  uint32_t next_dispatch() const {
    return dispatches_ + 1;
  }

  /// Returns the number of dispatches that moved it. Random choices of queues
  /// use it, so that they do not depend on earlier questions.
  uint32_t moves() const {
    return moves_;
  }

private:
  friend class requests;

  row_state state_ = row_state::waiting;
  core::time_point waiting_since_;
  core::time_point due_ = core::never;
  uint32_t attempt_ = 0;
  uint32_t dispatches_ = 0;
  uint32_t moves_ = 0;
};

/// Whether a row may hold slots that others wait for.
inline bool is_under_way(const row& r) {
  return r.course.leg() > 0 || r.held.any() || !r.course.known().done.empty();
}

/// Returns what a stage sees of a row.
inline planning::row_view view_of(const row& r) {
  return r.course.view(r.held, r.account.notes());
}

/// Returns the number of steps that are left in a row's leg.
inline uint32_t steps_left(const row& r) {
  return r.course.steps_left(r.held.steps());
}

/// Returns where a row is, for suspicions.
inline suspicions::place place_of(const row& r) {
  return {r.course.phase(), r.course.leg(), r.held.steps()};
}

} // namespace atelier::actors
