// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/offload.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atelier::runtime {

/// Runs offloaded work on threads of its own.
/// Threads: any. The destructor drops what did not begin and joins.
class thread_offload : public core::offload {
public:
  /// @param most works that may wait, at least 1
  thread_offload(unsigned threads, size_t most);
  ~thread_offload() override;

  bool run(core::timespan expected, std::function<void()> work) override;

private:
  void loop();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  /// Guarded by the mutex.
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  // Last: they end before what they use.
  std::vector<std::jthread> threads_;
};

} // namespace atelier::runtime
