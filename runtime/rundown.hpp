// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace atelier::runtime {

/// Counts the threads inside until it is closed: then no thread can enter, and
/// `close` waits until the last one has left. Unlike a shared mutex, a stream
/// of visitors cannot keep it open forever.
/// Threads: any.
class rundown {
public:
  /// Stays inside for its lifetime, if it could enter.
  class visit {
  public:
    explicit visit(rundown& where) : where_(where), inside_(where.enter()) {}

    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    ~visit() {
      if (inside_)
        where_.leave();
    }

    explicit operator bool() const {
      return inside_;
    }

  private:
    rundown& where_;
    bool inside_;
  };

  /// Must not be called from inside.
  void close() {
    std::unique_lock guard{mutex_};
    closed_ = true;
    left_.wait(guard, [this] { return inside_ == 0; });
  }

private:
  bool enter() {
    const std::lock_guard guard{mutex_};
    inside_ += closed_ ? 0 : 1;
    return !closed_;
  }

  void leave() {
    const std::lock_guard guard{mutex_};
    if (--inside_ == 0)
      left_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable left_;
  /// The mutex guards all members below.
  uint32_t inside_ = 0;
  bool closed_ = false;
};

} // namespace atelier::runtime
