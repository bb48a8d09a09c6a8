// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atelier::gpu {

/// Runs the parts of one piece of work in parallel, each always on the same
/// thread. Part 0 runs on the calling thread.
/// Threads: one at a time.
class lanes {
public:
  explicit lanes(size_t count);
  ~lanes();
  lanes(const lanes&) = delete;
  lanes& operator=(const lanes&) = delete;

  size_t count() const {
    return threads_.size() + 1;
  }

  /// Calls `work` with 0..count() - 1 and returns when all calls have ended. If
  /// calls threw, throws the exception of the lowest number.
  void run(const std::function<void(size_t)>& work);

private:
  void serve(size_t number);
  void call(size_t number);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(size_t)>* work_ = nullptr;
  std::vector<std::exception_ptr> thrown_;
  uint64_t round_ = 0;
  size_t busy_ = 0;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

} // namespace atelier::gpu
