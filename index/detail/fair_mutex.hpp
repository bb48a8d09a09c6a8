// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace atelier::index::detail {

/// A mutex that is given to those who wait in the order in which they came. A
/// caller that locks it again and again lets each other one in between, where
/// std::mutex may starve them.
///
/// Threads: any; it may be destroyed once no call uses it.
class fair_mutex {
public:
  void lock() {
    await(queue());
  }

  void unlock() {
    const std::lock_guard hold{lock_};
    ++served_;
    changed_.notify_all();
  }

  /// Takes the next place among those who wait.
  uint64_t queue() {
    const std::lock_guard hold{lock_};
    return next_++;
  }

  /// Waits for the turn of a place, and locks.
  void await(uint64_t place) {
    std::unique_lock hold{lock_};
    changed_.wait(hold, [&] { return served_ == place; });
  }

private:
  std::mutex lock_;
  std::condition_variable changed_;
  uint64_t next_ = 0;
  uint64_t served_ = 0;
};

} // namespace atelier::index::detail
