// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/thread_offload.hpp>

#include <sys/resource.h>

#include <exception>
#include <utility>

namespace atelier::runtime {

namespace {

/// A nice value with a weight of 110 beside the 1024 of other threads.
constexpr int background_nice = 10;

} // namespace

thread_offload::thread_offload(unsigned threads, size_t most,
                               thread_share share)
  : most_(most) {
  for (unsigned i = 0; i < threads; ++i)
    threads_.emplace_back([this, share] { loop(share); });
}

thread_offload::~thread_offload() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
}

bool thread_offload::run(core::timespan, std::function<void()> work) {
  {
    const std::lock_guard guard{mutex_};
    if (stopping_ || waiting_.size() >= most_)
      return false;
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
  return true;
}

void thread_offload::loop(thread_share share) {
  // Linux keeps the value for each thread, and always permits a higher one.
  if (share == thread_share::background
      && getpriority(PRIO_PROCESS, 0) < background_nice)
    setpriority(PRIO_PROCESS, 0, background_nice);
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock guard{mutex_};
      wake_.wait(guard, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_)
        return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      work();
    } catch (const std::exception& e) {
      core::log_error("offloaded work threw: {}", e.what());
    } catch (...) {
      core::log_error("offloaded work threw");
    }
  }
}

} // namespace atelier::runtime
