// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>

namespace atelier::runtime::http::detail {

/// The moment that a timer waits for, where the moment moves more often than it
/// comes: the timer is set anew only where it would wake too late. One that
/// wakes too early waits on.
/// Threads: one at a time.
class moving_deadline {
public:
  /// Moves it. True where the timer has to be set to timer_at().
  bool set(core::time_point due);

  /// It never comes; the timer may wake all the same.
  void clear() {
    due_ = core::never;
  }

  enum class woken : uint8_t {
    /// The timer rests until `set` says otherwise.
    idle,
    /// The timer has to be set to timer_at().
    early,
    due
  };

  /// The timer woke.
  woken wake(core::time_point now);

  /// When the timer wakes next.
  core::time_point timer_at() const {
    return timer_at_;
  }

private:
  core::time_point due_ = core::never;
  core::time_point timer_at_ = core::never;
};

} // namespace atelier::runtime::http::detail
