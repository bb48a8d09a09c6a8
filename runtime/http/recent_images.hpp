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

/// An image that was delivered of late.
struct recent_image {
  core::time_point time;
  std::string variant;
  std::string route;
  core::timespan took{0};
};

/// The images of the last ten minutes, at most some thousands.
/// Threads: any.
class recent_images {
public:
  explicit recent_images(std::function<core::time_point()> clock);

  void note(const generated_image& x);

  /// Oldest first.
  std::vector<recent_image> all() const;

  core::time_point now() const {
    return clock_();
  }

private:
  void forget_old(core::time_point now);

  const std::function<core::time_point()> clock_;
  mutable std::mutex mutex_;
  std::deque<recent_image> kept_;
};

} // namespace atelier::runtime::http
