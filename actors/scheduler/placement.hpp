// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/queueing.hpp>

namespace atelier::actors {

/// Applies plans to workers, and handles what follows from changes of hosting:
/// loads, queues without a host, variants that devices could not load.
/// Threads: one at a time.
class placement {
public:
  /// @pre the parts outlive it
  placement(parts& of, deliveries& out, queueing& waiting, lifecycle& rows);

  /// Applies the plan in force. Returns whether the planner must see the
  /// cluster again: loading workers are reported when they have loaded, except
  /// where the next plan depends on the loads under way.
  bool follow_plan(core::time_point now);

  /// A worker loaded, or could not. Returns whether that changes anything.
  bool on(const adopted& x, core::time_point now);

  /// An operator wants variants to be loaded: their pauses end. Returns whether
  /// that changes anything.
  bool on(const wish_hosting& x, core::time_point now);

  /// Carries out what an event changed of a worker's hosting.
  void follow(const hosting::change& x, worker& w, core::time_point now);

  /// Looks for a host once again for every awaited variant, after such a
  /// change.
  void look_anew();

  /// Notes a variant whose queue no worker serves or will serve.
  void look_for_host(core::queue_id queue);

  /// Reports to the planner the noted variants, and the rows that found no seat
  /// under a plan that groups them.
  void tell_waiting();

  /// Allows the next attempts to load that are due.
  void retry_loads(core::time_point now);

  /// Ends the legs that wait in a queue for a variant that no device can load
  /// now. Returns whether it ended any.
  bool end_unloadable(core::queue_id queue, core::time_point now);

private:
  void apply(const planning::assignment& x, worker& w, core::time_point now);

  const scheduler_config& config_;
  const scheduler_ports& ports_;
  records& records_;
  const rules& rules_;
  requests& requests_;
  workers& workers_;
  queues& queues_;
  hosting& hosting_;
  forecast& forecast_;
  const views& views_;
  const matching& matching_;
  deliveries& out_;
  queueing& queueing_;
  lifecycle& rows_;
};

} // namespace atelier::actors
