// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace atelier::index::detail {

/// Runs calls one by one on its own thread, because they may wait for a disk
/// that does not answer, and no signal ends such a wait. An exception ends its
/// call alone: it is logged and counts as failed.
///
/// The destructor drops calls that have not begun, and waits for the one that
/// runs, at most `grace`. After that the thread continues alone: a call must
/// own what it uses. Threads: any.
class call_thread {
public:
  /// @param most_posted the maximum number of posted calls that wait or run
  explicit call_thread(core::timespan grace, size_t most_posted = 256);
  ~call_thread();
  call_thread(const call_thread&) = delete;
  call_thread& operator=(const call_thread&) = delete;

  enum class ending : uint8_t {
    done,
    /// By an exception.
    failed,
    /// Not in time. If it has begun, it ends later; otherwise it never begins.
    late
  };

  /// Runs a call and waits for its end, at most `most`.
  ending run(std::function<void()> call, core::timespan most);

  /// Queues a call without waiting for it. Returns false and drops it if too
  /// many wait or run; it counts as refused.
  bool post(std::function<void()> call);

  /// Waits until no call waits or runs, at most `most`. Returns the number of
  /// those that do.
  size_t finish(core::timespan most);

  struct counted {
    /// Calls that wait or run.
    size_t pending = 0;
    uint64_t refused = 0;
    /// Calls that have ended by an exception.
    uint64_t failed = 0;
  };

  counted counts() const;

private:
  struct queued {
    uint64_t number = 0;
    std::function<void()> call;
    /// Where its caller finds how it ended; null if none waits.
    std::shared_ptr<ending> how{};
  };

  struct shared {
    std::mutex lock;
    std::condition_variable changed;
    bool stopping = false;
    bool runs = false;
    std::deque<queued> waiting;
    /// The numbers of the calls that came last and that ended last.
    uint64_t last = 0;
    uint64_t ended = 0;
    uint64_t refused = 0;
    uint64_t failed = 0;

    size_t pending() const {
      return waiting.size() + (runs ? 1 : 0);
    }
  };

  static void loop(const std::shared_ptr<shared>& in);

  const core::timespan grace_;
  const size_t most_posted_;
  const std::shared_ptr<shared> shared_;
  std::thread thread_;
};

} // namespace atelier::index::detail
