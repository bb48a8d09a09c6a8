// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/core/running_clock.hpp>

#include <deque>
#include <optional>
#include <utility>

namespace atelier::actors {

/// Hands orders to workers and offers their free seats to queues.
///
///   too large to leave          next_unsent: ends at once
///   nothing heard for its time  ask_order
///
/// Threads: one at a time.
class deliveries {
public:
  /// @pre the parts outlive it
  explicit deliveries(parts& of);

  /// Enters an order into the books of its worker.
  /// @param takes predicted time that the order lets its worker be silent
  void hand_over(core::ticket who, dispatched x, worker& w,
                 core::timespan takes, core::time_point now);

  /// Sends what is no order.
  void tell(const worker& w, work what);

  /// Sends an order; next_unsent returns it if it could not leave.
  void send(const worker& w, core::ticket who, work what);

  /// An order that could not leave, and why.
  using unsent = std::pair<core::ticket, core::error>;

  /// Returns the next such order, once.
  std::optional<unsent> next_unsent();

  /// Offers a worker's free seat, and that of its device's other worker, to the
  /// queues that they serve, or none if they take no more rows.
  void offer(worker& w);

  /// A worker gave a sign of life. Its device's other worker waits for the same
  /// thread, so the sign is also the other's, unless that thread runs a stage,
  /// which only its own worker's signs show alive.
  void heard(worker& w, core::time_point now);

  /// Returns the time for which the scheduler ran: the silence of workers and
  /// of orders is measured by it.
  core::time_point running_time(core::time_point now);

private:
  void offer_alone(worker& w);

  const config::process_settings& processes_;
  const scheduler_ports& ports_;
  actors::orders& orders_;
  actors::workers& workers_;
  actors::queues& queues_;
  core::running_clock clock_;
  std::deque<unsent> unsent_;
};

} // namespace atelier::actors
