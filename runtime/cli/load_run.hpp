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

/// One request of a load, and when it is due after the begin.
struct due_request {
  core::timespan due{0};
  generation what;
};

/// What became of it. Times are from the moment at which it was due, not from
/// that at which it was sent: a generator that falls behind, or a server that
/// makes it wait, cannot hide a delay so.
struct load_record {
  enum class outcome : uint8_t { open, answered, refused, failed };

  outcome what = outcome::open;
  /// Of a refusal or failure.
  std::string code;
  core::timespan due{0};
  /// How late it was sent.
  core::timespan lag{0};
  /// Until its answer, or its refusal.
  core::timespan latency{0};
  /// As the server says, of an answer.
  core::timespan queue{0};
  std::optional<core::timespan> deadline;
};

/// The time that a load runs by.
struct load_clock {
  std::function<core::time_point()> now;
  /// Waits until then, or until somebody wakes the waiter: it may come back
  /// early.
  std::function<void(core::time_point, wakeup&)> wait_until;
};

/// Returns the machine's clock.
load_clock real_clock();

/// Sends each request when it is due, whatever became of those before it (an
/// open loop), and waits at most `patience` after the last one for what is not
/// answered. Returns a record for each request that was sent: what is open in
/// the end is taken back and counts as failed, `unanswered`. After a wish to
/// stop nothing more is sent.
/// Threads: one; answers come from any.
std::vector<load_record> run_load(const std::vector<due_request>& load,
                                  service& to, core::timespan patience,
                                  interruption& interrupted,
                                  const load_clock& clock,
                                  const std::function<void(size_t)>& sent);

} // namespace atelier::runtime::cli
