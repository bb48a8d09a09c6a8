// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace atelier::test {

/// Where writes wait while it is closed.
class write_gate {
public:
  void pass() {
    std::unique_lock hold{lock_};
    ++waiting_;
    changed_.wait(hold, [&] { return !closed_; });
    --waiting_;
  }

  void close() {
    const std::lock_guard hold{lock_};
    closed_ = true;
  }

  void open() {
    const std::lock_guard hold{lock_};
    closed_ = false;
    changed_.notify_all();
  }

  bool is_reached() {
    const std::lock_guard hold{lock_};
    return waiting_ > 0;
  }

private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool closed_ = false;
  int waiting_ = 0;
};

/// The gate of a program whose `fsync` passes it.
inline write_gate disk_gate;

} // namespace atelier::test
