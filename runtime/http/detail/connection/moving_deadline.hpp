// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>

namespace atelier::runtime::http::detail {

/// The deadline of a timer whose deadline moves more often than it is reached.
/// The timer is set again only if it would wake too late. A timer that wakes
/// too early continues to wait.
/// Threads: one at a time.
class moving_deadline {
public:
  /// Moves the deadline. Returns true if the timer must be set to timer_at().
  bool set(core::time_point due);

  /// Removes the deadline; the timer may still wake.
  void clear() {
    due_ = core::never;
  }

  enum class woken : uint8_t {
    /// The timer stays unset until the next `set` that returns true.
    idle,
    /// The timer must be set to timer_at().
    early,
    due
  };

  /// Handles a wake of the timer.
  woken wake(core::time_point now);

  /// Returns when the timer wakes next.
  core::time_point timer_at() const {
    return timer_at_;
  }

private:
  core::time_point due_ = core::never;
  core::time_point timer_at_ = core::never;
};

} // namespace atelier::runtime::http::detail
