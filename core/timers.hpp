// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <functional>

namespace atelier::core {

/// Seam: the actors' clock for code outside the actors. Live: the actor
/// system's clock; simulated: the virtual one.
class timers {
public:
  virtual ~timers() = default;

  virtual time_point now() const = 0;

  /// Calls `what` once, `delay` from now. The call cannot be cancelled: `what`
  /// checks whether it is still needed. `what` must not block.
  virtual void after(timespan delay, std::function<void()> what) = 0;
};

} // namespace atelier::core
