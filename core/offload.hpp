// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <functional>

namespace atelier::core {

/// Seam: where blocking or long work runs off the actors. The work itself posts
/// its result back as a message. Live: threads; simulated: inline, after the
/// virtual duration.
class offload {
public:
  virtual ~offload() = default;

  /// Runs `work` soon. `expected` is its duration in simulation. False, and
  /// nothing runs, where the queue is full or being shut down.
  virtual bool run(timespan expected, std::function<void()> work) = 0;
};

} // namespace atelier::core
