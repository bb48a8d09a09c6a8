// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>

namespace atelier::actors {

/// Puts rows into queues and takes them out, with all that is counted for a row
/// that waits.
/// Threads: one at a time.
class queueing {
public:
  /// @pre the parts outlive it
  explicit queueing(parts& of);

  /// Makes a row wait for the stage at which it is.
  void wait(core::request_id id, row& r, core::time_point now, queues::end at);

  /// Takes a waiting row out of its queue, not for a worker.
  void leave(core::request_id id, row& r, core::time_point now);

  /// Takes a waiting row out of its queue for a worker.
  /// @param waited_for the variant with which it came
  void leave_for_worker(core::request_id id, row& r,
                        core::variant_id waited_for, core::time_point now);

  /// Moves the rows of a worker's own queues to those in which they wait now.
  void rehome(core::worker_id gone, core::time_point now);

private:
  /// Counts a row as no longer prepared and waiting for a device.
  void discount_ahead(core::tenant_id whose);
  void count_waiting(core::variant_id variant, core::queue_id queue,
                     bool comes);
  /// Recounts the work on devices of a row that waits, or stops counting it.
  void count_work(core::request_id id, const row& r);

  records& records_;
  requests& requests_;
  workers& workers_;
  queues& queues_;
  forecast& forecast_;
  const suspicions& suspicions_;
  const views& views_;
  const matching& matching_;
};

} // namespace atelier::actors
