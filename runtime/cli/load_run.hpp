// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/time.hpp>
#include <atelier/runtime/cli/interruption.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// One request of a load, and the time from the start at which it is due.
struct due_request {
  core::timespan due{0};
  generation request;
};

/// The outcome of a request. Times are measured from the moment at which it was
/// due, not from the moment at which it was sent, so that a generator that
/// falls behind, or a server that makes it wait, cannot hide a delay.
struct load_record {
  enum class outcome : uint8_t { open, answered, refused, failed };

  outcome result = outcome::open;
  /// The code of a refusal or failure.
  std::string code;
  core::timespan due{0};
  /// How late the request was sent.
  core::timespan lag{0};
  /// Time until its answer or its refusal.
  core::timespan latency{0};
  /// Time in the queue that the server reports in an answer.
  core::timespan queue{0};
  std::optional<core::timespan> deadline;
};

/// The clock that times a load.
struct load_clock {
  std::function<core::time_point()> now;
  /// Waits until then, or until the waiter is woken; it may return early.
  std::function<void(core::time_point, wakeup&)> wait_until;
};

/// Returns the machine's clock.
load_clock real_clock();

/// Sends each request when it is due, whatever the state of those before it (an
/// open loop), and waits at most `patience` after the last one for missing
/// answers. Returns a record for each request that was sent. Requests that are
/// still open at the end are cancelled and count as failed, `unanswered`. After
/// an interruption, no more requests are sent.
/// Threads: one thread calls it; answers may arrive on any thread.
std::vector<load_record> run_load(const std::vector<due_request>& load,
                                  service& to, core::timespan patience,
                                  interruption& interrupted,
                                  const load_clock& clock,
                                  const std::function<void(size_t)>& sent);

} // namespace atelier::runtime::cli
