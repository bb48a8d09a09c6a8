// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>

namespace atelier::index::detail {

/// Decides whether a disk is tried again. After `most_failures` failures in a
/// row the disk is skipped for `retry`, then tried once, and skipped again if
/// that fails.
/// Threads: one at a time.
class breaker {
public:
  breaker(uint32_t most_failures, core::timespan retry)
    : most_failures_(most_failures), retry_(retry) {}

  bool lets_through(core::time_point now) const {
    return failures_ < most_failures_ || now >= until_;
  }

  /// Returns whether the disk is skipped from now on.
  bool failed(core::time_point now) {
    if (failures_ < most_failures_)
      ++failures_;
    until_ = core::after(now, retry_);
    return failures_ >= most_failures_;
  }

  /// Returns whether it had failed before.
  bool worked() {
    const bool before = failures_ > 0;
    failures_ = 0;
    return before;
  }

private:
  uint32_t most_failures_;
  core::timespan retry_;
  uint32_t failures_ = 0;
  core::time_point until_;
};

} // namespace atelier::index::detail
