// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/endings.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/losses.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>

namespace atelier::actors {

/// Handles the reports of workers. Most functions return whether they changed
/// anything that may let rows be dispatched.
/// Threads: one at a time.
class replies {
public:
  /// @pre the parts outlive it
  replies(parts& of, deliveries& out, queueing& waiting, lifecycle& rows,
          endings& ends, placement& places, losses& without);

  bool on(const worker_ready& x, core::time_point now);
  bool on(const stage_done& x, core::time_point now);
  void on(const stepping& x, core::time_point now);
  bool on(const stepped& x, core::time_point now);
  bool on(const denoised& x, core::time_point now);

private:
  /// Counts a report of something that is not known.
  bool stale();

  void tell_costs();

  /// Makes plans leave out workers that are slow compared with others, and
  /// include those that are no longer slow.
  void tell_slow(core::time_point now);

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
  const views& views_;
  const matching& matching_;
  deliveries& out_;
  queueing& queueing_;
  lifecycle& rows_;
  endings& ends_;
  placement& placement_;
  losses& losses_;
};

} // namespace atelier::actors
