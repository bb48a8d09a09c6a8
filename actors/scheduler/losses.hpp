// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/placement.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/queueing.hpp>

#include <cstdint>
#include <optional>
#include <set>

namespace atelier::actors {

/// A dispatch that ended, and the slots that it held.
struct concluded : dispatched {
  held_slots slots;
};

/// How a dispatch ended without its result.
enum class loss : uint8_t {
  /// A living worker reported it.
  told,
  /// Its process ended, but not because of it.
  killed,
  /// Its process ended while it worked on this.
  suspicious,
  /// The order or its answer was lost between here and a living worker.
  unanswered,
  /// A living worker could not read the state that it began with.
  unreadable,
};

/// Whether another attempt could succeed.
bool worth_retrying(core::ec code);

/// Ends orders, and handles those that have no result, and deaths:
///
///   too large to leave          ends at once
///   nothing heard for its time  ask_order
///   has_order, no               it or its answer was lost: it is tried again
///   asked, no answer            the worker's silence ends its process; in the
///                               control process the request continues alone
///
/// Threads: one at a time.
class losses {
public:
  /// @pre the parts outlive it
  losses(parts& of, deliveries& out, queueing& waiting, lifecycle& rows,
         placement& places);

  // -- the end of an order ----------------------------------------------------

  /// Ends an order: its seat is free. Returns nothing if it is unknown.
  /// @param sign the end is a sign of life of the worker
  std::optional<concluded> conclude(core::ticket who, core::time_point now,
                                    bool sign = true);

  void note_returned(core::request_id id, const dispatched& x,
                     const core::error& why, core::time_point now);

  /// Makes a row try its stage again, if that may help.
  void fall_back(core::request_id id, row& r, const concluded& x,
                 const core::error& why, loss how, core::time_point now);

  /// Returns where a worker's times are drawn; nothing if it is gone or no
  /// timeline is recorded.
  std::optional<timeline_track> track(core::worker_id id) const;

  // -- orders without an answer -----------------------------------------------

  /// Ends the orders that could not leave. Returns whether there were any.
  bool end_unsent(core::time_point now);

  /// Asks the workers about orders of which nothing was heard for too long.
  void ask_about_orders(core::time_point now);

  void on(const has_order& x, core::time_point now);

  // -- deaths -----------------------------------------------------------------

  void suspected(ipc::process_life who, core::time_point now);
  void lost(ipc::process_life who, bool confirmed, death cause,
            core::time_point now);

private:
  /// Trials may wait for a worker: those of its queues are looked at again.
  void look_for_trials(const worker& w);

  /// Ends a dispatch that has no result: its row falls back, or its question is
  /// over.
  void give_up(core::ticket who, const concluded& x, const core::error& why,
               loss how, core::time_point now);

  /// Ends an order that its worker does not have.
  void order_lost(core::ticket who, core::time_point now);

  /// Lets a request continue without an order about which its worker, which
  /// cannot be killed, says nothing. The order keeps its seat and its slots:
  /// the worker may still write.
  void order_abandoned(core::ticket who, core::time_point now);

  /// Returns how a request ends that lost an order of its stage, and replaces
  /// the worker of a second loss if that is possible.
  loss note_lost(row& r, worker& w, core::error& why);

  /// Notes the requests that wait for these workers and for no others.
  void note_delayed(const std::set<core::queue_id>& served);

  const scheduler_config& config_;
  const scheduler_ports& ports_;
  const stage_path& path_;
  slots& slots_;
  records& records_;
  requests& requests_;
  orders& orders_;
  workers& workers_;
  queues& queues_;
  hosting& hosting_;
  forecast& forecast_;
  suspicions& suspicions_;
  const views& views_;
  const matching& matching_;
  deliveries& out_;
  queueing& queueing_;
  lifecycle& rows_;
  placement& placement_;
};

} // namespace atelier::actors
