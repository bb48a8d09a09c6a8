// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace atelier::index::detail {

/// Runs work in order on its own thread, which starts with the first work. The
/// destructor drops work that has not begun, and waits for the rest, which
/// checks `stopping`. An exception ends its work alone and is logged.
/// Threads: any; the work must not call `settle`.
class build_thread {
public:
  build_thread() = default;
  ~build_thread();
  build_thread(const build_thread&) = delete;
  build_thread& operator=(const build_thread&) = delete;

  /// Returns false and drops the work if the thread cannot start.
  bool post(std::function<void()> work);

  /// Returns false and drops the work also if other work runs or is queued.
  bool post_if_idle(std::function<void()> work);

  /// Waits until no work runs or is queued.
  void settle();

  bool stopping() const;

private:
  void loop();
  bool enter(std::function<void()> work);

  std::atomic<bool> stopping_{false};
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool runs_ = false;
  std::jthread thread_;
};

} // namespace atelier::index::detail
