// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/wire.hpp>
#include <atelier/ipc/ring.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atelier::runtime {

/// The control process's end of the pair of rings of one life of a process.
///
/// Records leave in the order of their sends. Records that the ring cannot take
/// now wait here, bounded by the seats of the process's workers. One thread
/// reads; after `finish` it reads to the end of what the process wrote, then
/// calls `ended`, and nothing afterwards.
/// Threads: any; `arrived` and `ended` are called from the reading thread.
class ring_link {
public:
  struct events {
    /// A record arrived. Must not throw.
    std::function<void(actors::from_process)> arrived;
    /// Everything that the process wrote has arrived.
    std::function<void()> ended;
    /// The ring holds nonsense: the process must be killed.
    std::function<void(core::error)> broken;
  };

  ring_link(const ipc::ring_pair& rings, ipc::ring_life life, events calls);

  /// Ends as `stop` does.
  ~ring_link();

  /// Ends the reading thread at once, without `ended`. Afterwards any thread
  /// may destroy the link; until then, the reading thread must not.
  /// @pre not on the reading thread; one call at a time
  void stop();

  /// Errors: ec::invalid_argument for a record that is larger than the ring
  ///         takes; nothing is sent.
  [[nodiscard]] core::result<void> send(const actors::to_process& x);

  /// Wakes both readers of the pair ahead of work that is about to arrive.
  void rouse();

  /// Must be called once the process has certainly ended, and before the rings
  /// serve another life: a later send writes nothing.
  void finish();

private:
  /// Puts a record without waking its reader. Returns whether it is in the
  /// ring, or an error if it never can be.
  core::result<bool> put(const actors::to_process& x);
  void read();
  void flush();

  events calls_;
  ipc::ring_reader from_;
  enum class stage : uint8_t { open, finishing, abandoned };
  std::atomic<stage> stage_{stage::open};
  /// Records wait in overflow_.
  std::atomic<bool> behind_{false};

  std::mutex mutex_;
  /// Guarded by the mutex, like all members below; except for `rouse` and
  /// `announce`, which write no record.
  ipc::ring_writer to_;
  std::deque<std::vector<std::byte>> overflow_;
  /// The rings may serve another life.
  bool closed_ = false;
  std::vector<std::byte> scratch_;
  // Last, so that it ends before the members that it uses.
  std::jthread thread_;
};

} // namespace atelier::runtime
