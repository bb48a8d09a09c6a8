// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/log.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace atelier::core::detail {

/// Passes lines to a host's function on its own thread, one at a time and in
/// their order. If too many are queued, the oldest are dropped and counted, so
/// that no caller waits for the function. What it throws is ignored. If it ends
/// its thread, another one takes the thread's place; if none can start, the
/// lines from there on are dropped.
///
/// The destructor waits until the queued lines were passed on.
/// Threads: any; the function must not destroy it.
class line_thread {
public:
  /// @param most maximum number of queued lines
  /// @throws std::system_error if the thread cannot start
  line_thread(log_sink to, size_t most);
  ~line_thread();

  line_thread(const line_thread&) = delete;
  line_thread& operator=(const line_thread&) = delete;

  void pass(log_level of, const std::string& text);

private:
  struct line {
    log_level of;
    std::string text;
  };

  class substitute;

  /// @pre the lock is held
  void start();
  void loop();
  /// Waits for a line. Returns none once all were taken after the stop.
  std::optional<line> next();
  void call(const line& x) const;
  /// Puts another thread in the place of the one that the function ends.
  void replace_thread() noexcept;

  const log_sink to_;
  const size_t most_;
  std::mutex lock_;
  std::condition_variable changed_;
  /// The lock guards this and all members below.
  std::deque<line> waiting_;
  uint64_t dropped_ = 0;
  bool stopping_ = false;
  std::thread thread_;
  /// Threads that the function ended.
  std::vector<std::thread> ended_;
};

} // namespace atelier::core::detail
