// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <functional>

namespace atelier::core {

/// Seam: runs blocking or long work outside the actors. The work itself posts
/// its result back as a message. Live: on threads; simulated: inline, after the
/// virtual duration.
class offload {
public:
  virtual ~offload() = default;

  /// Runs `work` soon. `expected` is its duration in simulation. Returns false
  /// and runs nothing if the queue is full or shutting down.
  virtual bool run(timespan expected, std::function<void()> work) = 0;
};

} // namespace atelier::core
