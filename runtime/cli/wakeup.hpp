// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

namespace atelier::runtime::cli {

/// Lets other threads and signal handlers wake the one that waits.
/// Threads: wake from any, signal handlers included; wait from one.
class wakeup {
public:
  wakeup();
  ~wakeup();

  wakeup(const wakeup&) = delete;
  wakeup& operator=(const wakeup&) = delete;

  void wake() noexcept;

  /// Returns at the next wake, at once if there was one since the last wait,
  /// or when `most` has passed.
  void wait(std::optional<std::chrono::milliseconds> most);

private:
  int fd_;
};

} // namespace atelier::runtime::cli
