// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/time.hpp>

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace atelier::runtime::http {

/// A picture that was delivered of late.
struct recent_picture {
  core::time_point time;
  std::string variant;
  std::string route;
  core::timespan took{0};
};

/// The pictures of the last ten minutes, at most some thousands.
/// Threads: any.
class recent_pictures {
public:
  explicit recent_pictures(std::function<core::time_point()> clock);

  void note(const picture& x);

  /// Oldest first.
  std::vector<recent_picture> all() const;

  core::time_point now() const {
    return clock_();
  }

private:
  void forget_old(core::time_point now);

  const std::function<core::time_point()> clock_;
  mutable std::mutex mutex_;
  std::deque<recent_picture> kept_;
};

} // namespace atelier::runtime::http
