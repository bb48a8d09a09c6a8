// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// Makes numbered batches ahead on threads of its own and returns them in
/// order. A batch depends only on its number, so the results do not depend on
/// the number of threads.
/// Threads: `next` from one thread at a time.
template <class Batch>
class batch_queue {
public:
  using maker = std::function<Batch(uint64_t number)>;

  /// Calls `make` from all threads concurrently. At most `ahead` batches wait.
  batch_queue(maker make, uint64_t first, size_t threads, size_t ahead)
    : make_(std::move(make)), ahead_(ahead), wanted_(first), unmade_(first) {
    for (size_t i = 0; i < threads; ++i)
      threads_.emplace_back([this] { work(); });
  }

  ~batch_queue() {
    {
      const std::lock_guard guard{mutex_};
      ended_ = true;
    }
    room_.notify_all();
    for (auto& thread : threads_)
      thread.join();
  }

  batch_queue(const batch_queue&) = delete;
  batch_queue& operator=(const batch_queue&) = delete;

  /// Returns the next batch. Makes it in the calling thread if the queue has no
  /// threads. Throws the exception that `make` threw for this batch.
  Batch next() {
    if (threads_.empty())
      return make_(wanted_++);
    std::unique_lock lock{mutex_};
    made_.wait(lock, [this] { return waiting_.contains(wanted_); });
    auto out = std::move(waiting_.extract(wanted_).mapped());
    ++wanted_;
    lock.unlock();
    room_.notify_one();
    if (out.why)
      std::rethrow_exception(out.why);
    return std::move(*out.batch);
  }

private:
  struct outcome {
    std::optional<Batch> batch;
    std::exception_ptr why;
  };

  outcome make(uint64_t number) const {
    try {
      return {make_(number), nullptr};
    } catch (...) {
      return {std::nullopt, std::current_exception()};
    }
  }

  void work() {
    std::unique_lock lock{mutex_};
    for (;;) {
      room_.wait(lock, [this] { return ended_ || unmade_ < wanted_ + ahead_; });
      if (ended_)
        return;
      const auto number = unmade_++;
      lock.unlock();
      auto made = make(number);
      lock.lock();
      waiting_.emplace(number, std::move(made));
      made_.notify_one();
    }
  }

  maker make_;
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable made_;
  std::condition_variable room_;
  /// Number of the batch that `next` returns.
  uint64_t wanted_;
  /// Number of the first batch that no thread has started.
  uint64_t unmade_;
  std::map<uint64_t, outcome> waiting_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

} // namespace atelier::gpu
