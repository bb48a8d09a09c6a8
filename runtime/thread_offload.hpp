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

/// What the threads of an offload yield the processors to.
enum class thread_share {
  /// Nothing: they have the priority of the thread that made them.
  equal,
  /// Threads that draw, reply and schedule. The work still gets about a tenth
  /// of
  /// a processor that those use up.
  background,
};

/// Runs offloaded work on its own threads.
/// Threads: any. The destructor drops work that has not begun and joins.
class thread_offload : public core::offload {
public:
  /// @param most the maximum number of waiting works, at least 1
  thread_offload(unsigned threads, size_t most,
                 thread_share share = thread_share::equal);
  ~thread_offload() override;

  bool run(core::timespan expected, std::function<void()> work) override;

private:
  void loop(thread_share share);

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  /// The mutex guards these.
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  // The threads are last: they end before the members that they use.
  std::vector<std::jthread> threads_;
};

} // namespace atelier::runtime
