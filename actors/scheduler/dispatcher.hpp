// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/order_maker.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/placement.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/queueing.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::actors {

/// Moves rows from queues to workers: which worker takes which row, with which
/// slots.
/// Threads: one at a time.
class dispatcher {
public:
  /// @pre the parts outlive it
  dispatcher(parts& of, deliveries& out, queueing& waiting, lifecycle& rows,
             placement& places, order_maker& maker);

  /// Dispatches all rows that can go, and reports those that cannot.
  void pump(core::time_point now);

private:
  enum class dispatching : uint8_t { went, nobody, no_slots };

  void pump_queue(core::queue_id queue, core::time_point now);

  /// Dispatches the first row of these queues that may go to a worker, or ends
  /// late ones. `without`, sorted: tenants whose rows are left out.
  dispatching dispatch_first(std::span<const core::queue_id> from, worker& w,
                             std::span<const core::tenant_id> without,
                             core::time_point now);

  /// Dispatches the first of the queue's rows, or ends late ones.
  dispatching dispatch_one(std::vector<planning::waiting> queue, worker& w,
                           core::time_point now);

  bool dispatch(core::request_id id, worker& w, core::time_point now);

  /// Dispatches a row that is under way when the next one of its queue must
  /// wait for slots: such a row may hold slots, which it frees only at its end.
  /// At devices, rows in their first leg wait for their turn while anything
  /// runs.
  bool dispatch_under_way(std::span<const core::queue_id> served, worker& w,
                          core::time_point now);

  /// Sends the batches that began to fill in this event.
  void end_filling();

  void pump_alone(core::queue_id queue, core::time_point now);
  void pump_pool_suspects(core::time_point now);

  /// Whether the other worker of a worker's device has orders.
  bool is_other_busy(const worker& w) const;

  /// Whether the trial of a row is recorded; otherwise asks for that.
  bool begin_trial(core::request_id id, const row& r);

  const scheduler_ports& ports_;
  slots& slots_;
  records& records_;
  const rules& rules_;
  requests& requests_;
  workers& workers_;
  queues& queues_;
  hosting& hosting_;
  const forecast& forecast_;
  suspicions& suspicions_;
  const matching& matching_;
  deliveries& out_;
  queueing& queueing_;
  lifecycle& rows_;
  placement& placement_;
  order_maker& maker_;
  std::vector<core::worker_id> filling_;
};

} // namespace atelier::actors
