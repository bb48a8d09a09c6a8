// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::core {

/// Counts the time in which its owner ran. Between two looks at most `most`
/// counts: an owner that was stopped, frozen or starved for longer must not
/// take its own absence for the silence of others.
/// Threads: one at a time.
class running_clock {
public:
  explicit running_clock(timespan most) : most_(most) {}

  /// Notes that the wall clock shows `now`, and returns the time that counts.
  /// It never falls, even if the wall clock is set back.
  time_point look(time_point now) {
    if (!last_)
      counted_ = now;
    const auto passed =
      std::max(timespan{0}, last_ ? now - *last_ : timespan{0});
    paused_ = paused_ || passed > most_;
    counted_ += std::min(passed, most_);
    last_ = now;
    return counted_;
  }

  /// Whether any look left out a part of the time since the last call.
  bool take_pause() {
    return std::exchange(paused_, false);
  }

private:
  timespan most_;
  std::optional<time_point> last_;
  time_point counted_;
  bool paused_ = false;
};

} // namespace atelier::core
