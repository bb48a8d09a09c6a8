// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/thread_offload.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace atelier::runtime::http {

/// Runs work of callers on its own threads. The callers with waiting work take
/// turns, so that one with much of it delays others by one work each. Threads:
/// any. The destructor drops work that has not begun and joins.
class caller_turns {
public:
  /// @param most the maximum number of waiting works, at least 1; one caller
  ///        may have a quarter of them
  caller_turns(unsigned threads, size_t most,
               thread_share share = thread_share::equal)
    : most_(most), threads_(threads, most, share) {}

  /// Runs `work` later, in a turn of the caller of this name. Returns false if
  /// too much work waits, of all callers or of this one.
  bool run(const std::string& caller, std::function<void()> work);

private:
  void run_next();

  const size_t most_;
  std::mutex mutex_;
  // The mutex guards these: the waiting work of each caller, oldest first,
  // how much there is, and the callers in the order of their turns.
  std::map<std::string, std::deque<std::function<void()>>> waiting_;
  size_t count_ = 0;
  std::deque<std::string> turns_;
  /// The threads are last: they end before the members that they use. They run
  /// run_next once for each work.
  thread_offload threads_;
};

} // namespace atelier::runtime::http
