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

/// Something that listeners hear of.
struct job_news {
  enum class kind : uint8_t { progressed, pictured, ended };
  kind what = kind::progressed;
  /// As it was then.
  std::shared_ptr<const job_view> view;
  uint32_t index = 0;
  /// Who hears of it.
  std::vector<std::shared_ptr<const job_listener>> to;
};

/// Calls who hears of it; what one throws is logged.
void deliver(const job_news& x);

/// Those who listen to one job, and the news that they did not hear yet. Who
/// ends listening hears nothing of what waits; who heard of the end listens no
/// longer.
/// Threads: one at a time; `deliver` is called without the lock that sees to
/// it.
class job_listeners {
public:
  /// Returns a number, from 1 on.
  uint64_t add(job_listener news);

  /// Returns it, so that the caller can let it go without the lock; null where
  /// it is not known.
  std::shared_ptr<const job_listener> remove(uint64_t number);

  bool empty() const {
    return listeners_.empty();
  }

  /// Enters news for those who listen now.
  /// @param first the number of the first one that they are for
  void push(job_news::kind what, std::shared_ptr<const job_view> view,
            uint32_t index = 0, uint64_t first = 1);

  /// Nobody hears of what waits.
  void drop_news() {
    waiting_.clear();
  }

  /// One thread at a time tells news. False where another one does.
  bool begin_telling();

  void end_telling() {
    telling_ = false;
  }

  /// Returns the oldest news, to be delivered; none where all were told.
  std::optional<job_news> next();

  /// Returns all listeners, as remove does.
  std::vector<std::shared_ptr<const job_listener>> remove_all();

private:
  struct entered {
    job_news news;
    /// It is for the listeners of these numbers, both included.
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
