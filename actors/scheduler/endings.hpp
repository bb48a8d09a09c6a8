// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/queueing.hpp>

#include <memory>

namespace atelier::actors {

/// Ends rows. The terminal state is set before the answer leaves, once.
/// Threads: one at a time.
class endings {
public:
  /// @pre the parts outlive it
  endings(parts& of, deliveries& out, queueing& waiting, asides& beside);

  /// Answers a request that has no row.
  void refuse(std::shared_ptr<const core::request> what, core::error why,
              core::timespan retry_after, core::time_point now);

  /// Ends a row that has no place: as if it had not been accepted.
  void turn_away(core::request_id id, row& r, core::error why,
                 core::timespan retry_after, core::time_point now);

  /// Ends a row without an image.
  /// @param as failed or cancelled
  void fail(core::request_id id, row& r, row_state as, core::error why,
            core::time_point now);

  /// Ends a row with its encoded image; a row without one fails.
  void answer(core::request_id id, row& r, core::time_point now);

  /// Makes the worker of a row leave its order.
  void cancel_order(core::request_id id, const row& r);

private:
  /// Sets a row's terminal state: nothing more is predicted for it.
  void close(row& r, row_state as);

  const scheduler_config& config_;
  const scheduler_ports& ports_;
  slots& slots_;
  records& records_;
  requests& requests_;
  const orders& orders_;
  const workers& workers_;
  forecast& forecast_;
  questions& questions_;
  suspicions& suspicions_;
  deliveries& out_;
  queueing& queueing_;
  asides& asides_;
};

} // namespace atelier::actors
