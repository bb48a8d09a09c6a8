// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/jobs.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace atelier::runtime::http::detail {

/// An event for listeners.
struct job_news {
  enum class kind : uint8_t { progressed, imaged, ended };
  kind change = kind::progressed;
  /// The job at the time of the event.
  std::shared_ptr<const job_view> view;
  uint32_t index = 0;
  /// The listeners that receive it.
  std::vector<std::shared_ptr<const job_listener>> to;
};

/// Calls the listeners of an event; exceptions that they throw are logged.
void deliver(const job_news& x);

/// The listeners of one job, and the events that they have not received yet. A
/// removed listener receives no queued event; a listener that received the end
/// is removed.
/// Threads: one at a time; `deliver` is called without the lock that ensures
/// this.
class job_listeners {
public:
  /// Adds a listener and returns its number, from 1 on.
  uint64_t add(job_listener news);

  /// Removes and returns a listener, so that the caller can release it without
  /// the lock; null if it is unknown.
  std::shared_ptr<const job_listener> remove(uint64_t number);

  bool empty() const {
    return listeners_.empty();
  }

  /// Queues an event for the current listeners.
  /// @param first the number of the first listener that it is for
  void push(job_news::kind what, std::shared_ptr<const job_view> view,
            uint32_t index = 0, uint64_t first = 1);

  /// Drops all queued events.
  void drop_news() {
    waiting_.clear();
  }

  /// Reserves delivery for the calling thread, one at a time. Returns false if
  /// another thread delivers.
  bool begin_telling();

  void end_telling() {
    telling_ = false;
  }

  /// Returns the oldest event, to be delivered; none if all were delivered.
  std::optional<job_news> next();

  /// Removes and returns all listeners, as remove does for one.
  std::vector<std::shared_ptr<const job_listener>> remove_all();

private:
  struct entered {
    job_news news;
    /// The event is for the listeners of these numbers, both included.
    uint64_t first = 0;
    uint64_t last = 0;
  };

  std::map<uint64_t, std::shared_ptr<const job_listener>> listeners_;
  uint64_t last_ = 0;
  std::deque<entered> waiting_;
  /// A thread is calling listeners.
  bool telling_ = false;
};

} // namespace atelier::runtime::http::detail
