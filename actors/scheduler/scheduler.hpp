// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/dispatcher.hpp>
#include <atelier/actors/scheduler/endings.hpp>
#include <atelier/actors/scheduler/inspection.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/losses.hpp>
#include <atelier/actors/scheduler/order_maker.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/placement.hpp>
#include <atelier/actors/scheduler/queueing.hpp>
#include <atelier/actors/scheduler/replies.hpp>
#include <atelier/actors/scheduler/routing.hpp>

#include <memory>
#include <optional>
#include <string>

namespace atelier::actors {

/// The scheduler without an actor, a clock or a thread: one function for each
/// event, which carries the time. Effects leave through the ports.
///
///   parts      what is known; each part owns its data (parts.hpp)
///   readers    matching, slot_shares, views, inspection: they change nothing
///   transitions, each of which uses only those before it: deliveries,
///              queueing, routing, asides, endings, lifecycle, placement,
///              order_maker, dispatcher, losses, replies
///
/// Every event that can free a worker, a seat or a slot ends with dispatching
/// what can go.
///
/// Invariants, tested after every event: those of the parts, and those of
/// `inspection`.
/// Threads: one at a time.
class scheduler {
public:
  scheduler(scheduler_config config, scheduler_ports ports);

  // -- clients ----------------------------------------------------------------

  /// @param held, keeps_suspicion as in the message `submit`
  void submit(std::shared_ptr<const core::request> what, core::time_point now,
              core::suspicion held = {}, bool keeps_suspicion = false);

  /// The trial announced by `gateway::suspected` has been recorded.
  void trial_noted(core::request_id id, core::time_point now);

  void cancel(core::request_id id, core::time_point now);
  void taken(core::request_id id, core::time_point now);

  // -- workers ----------------------------------------------------------------

  void on(const worker_ready& x, core::time_point now);
  void on(const stage_done& x, core::time_point now);
  void on(const stepping& x, core::time_point now);
  void on(const stepped& x, core::time_point now);
  void on(const denoised& x, core::time_point now);
  void on(const adopted& x, core::time_point now);
  void on(const has_order& x, core::time_point now);
  void on(const wish_hosting& x, core::time_point now);

  void suspected(ipc::process_life who, core::time_point now);
  void lost(ipc::process_life who, bool confirmed, death cause,
            core::time_point now);

  // -- plans and time ---------------------------------------------------------

  void publish(std::shared_ptr<const planning::plan> what,
               core::time_point now);

  /// Looks for late requests and silent workers.
  void tick(core::time_point now);

  /// Whether a tick can change anything.
  bool wants_tick() const;

  /// Fails all unanswered requests and refuses new ones from now on.
  void stop(core::time_point now);

  // -- inspection -------------------------------------------------------------

  /// The reference holds until the next call of any member.
  const planning::cluster_view& cluster() const;
  scheduler_status status() const;
  recovery_counts recovery(core::time_point now) const;
  const counters& counts() const;
  const ipc::keeper& keeper() const;

  /// Requests that have not ended, or whose image the client has not taken yet.
  size_t rows() const;

  /// Returns the stage at which a request is; nothing if it has no route yet.
  std::optional<size_t> stage_of(core::request_id id) const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  /// Returns why a request gets no row, and when it may be tried again.
  std::optional<routing::refusal> refusal_of(const core::request& x) const;

  /// Reports the workers that have been silent for too long.
  void report_silence(core::time_point now);

  /// Dispatches what can go, and ends the orders that could not leave.
  void settle(core::time_point now);

  parts of_;
  inspection inspection_;
  deliveries deliveries_;
  queueing queueing_;
  routing routing_;
  asides asides_;
  endings endings_;
  lifecycle lifecycle_;
  placement placement_;
  order_maker maker_;
  dispatcher dispatcher_;
  losses losses_;
  replies replies_;
};

} // namespace atelier::actors
