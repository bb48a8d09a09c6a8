// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atelier::runtime::http {

/// Does the server's chores every so often, on a thread of its own: they may
/// wait for actors, which no thread that serves sockets may.
/// Threads: one makes and destroys it.
class housekeeper {
public:
  /// Each chore is done at once, and then every `period`.
  housekeeper(std::vector<std::function<void()>> chores, core::timespan period);

  /// Waits for the chore under way.
  ~housekeeper();

  housekeeper(const housekeeper&) = delete;
  housekeeper& operator=(const housekeeper&) = delete;

private:
  void work(const std::vector<std::function<void()>>& chores,
            core::timespan period);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

} // namespace atelier::runtime::http
