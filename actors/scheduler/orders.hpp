// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/core/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace atelier::actors {

/// State of one dispatch at a worker, from the hand-off to the worker's reply
/// or its process's end, whatever happens to the row meanwhile. Its slots are
/// kept in scheduler/slots.hpp.
struct dispatched {
  core::worker_id worker;
  core::tenant_id tenant;
  size_t stage = 0;
  core::phase phase = core::phase::preparing;
  /// It moves no row: it finds facts, or remembers. If it finds facts, the
  /// number of the question that they answer.
  bool side = false;
  uint32_t question = 0;
  core::variant_id variant;
  /// When it was handed off.
  core::time_point since;
  /// Steps of the state when it was handed off.
  uint32_t steps_before = 0;
  uint32_t steps_done = 0;
  /// Values of the row that policies see while it runs.
  uint32_t steps = 0;
  double masked = 1;
  /// Its part of its worker's steps_left.
  uint32_t steps_left = 0;
  bool alone = false;
  /// The worker reported it as a member of its batch.
  bool stepping = false;
};

/// The times of an order, on the scheduler's running clock.
struct order_times {
  /// Longest time that the order's own work explains.
  core::timespan work{0};
  /// How long its worker may show nothing of it before it is asked.
  core::timespan patience{0};
};

/// Tracks the orders that workers have not answered: each has its own time, so
/// that one whose answer was lost is missed however busy its worker is. A
/// worker is asked about an order whose time is over; links keep the order of
/// messages, so that "I do not have it" proves that the order or its answer was
/// lost. This part of the scheduler has no row, no worker and no queue.
/// Threads: one at a time.
class orders {
public:
  /// @pre the ticket is new
  void add(core::ticket who, dispatched what, order_times times,
           core::time_point now);

  /// Removes an order that is answered, lost, or whose process is gone; nothing
  /// if it is not known.
  std::optional<dispatched> end(core::ticket who);

  /// Its worker reported whether it is a member of its batch.
  void report(core::ticket who, bool stepping);

  /// Whether one of these open orders was reported so.
  bool any_stepping(std::span<const core::ticket> which) const;

  /// Its worker reported so many steps. Returns by how many fewer are left.
  uint32_t progress(core::ticket who, uint32_t steps_done);

  /// Lets its request continue without it: from now on it moves no request, and
  /// keeps its seat and its slots.
  void abandon(core::ticket who);

  /// Returns null if the ticket is not known.
  const dispatched* find(core::ticket who) const;

  /// Whether a device denoises by this order.
  bool denoises(core::ticket who) const;

  /// @pre the order exists
  const dispatched& at(core::ticket who) const;

  /// Returns the time that these orders' work explains.
  /// @pre they exist
  core::timespan work_of(std::span<const core::ticket> which) const;

  bool empty() const;
  size_t size() const;

  /// Calls f(ticket, dispatched) with every order.
  template <class F>
  void each(const F& f) const {
    for (const auto& [who, x] : open_)
      f(who, x.what);
  }

  /// Its worker showed that it works on it: its time starts again.
  void renew(core::ticket who, core::time_point now);

  /// Returns the orders, by ticket, whose worker was asked and answered nothing
  /// until their time was over again. Called before `overdue`.
  std::vector<core::ticket> unanswered(core::time_point now) const;

  /// Returns the orders whose time is over, by ticket. Their time starts again,
  /// and they count as asked for until their worker shows something of them.
  std::vector<core::ticket> overdue(core::time_point now);

  /// Whether the worker was asked about it and has not answered.
  bool is_asked(core::ticket who) const;

private:
  struct order {
    dispatched what;
    order_times times;
    core::time_point renewed;
    bool asked = false;
  };

  std::unordered_map<core::ticket, order> open_;
};

} // namespace atelier::actors
