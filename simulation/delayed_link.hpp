// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/timers.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace atelier::runtime {

/// Effect of a simulated link on one delivery; drawn separately for each.
struct link_fate {
  core::timespan delay{0};
  /// Delay of a second, out-of-order delivery; 0: it is delivered once.
  core::timespan again{0};
};

/// Decides on each delivery; empty: at once, in order.
using link_script = std::function<link_fate()>;

/// One direction of a ring or a connection. It keeps the order of deliveries,
/// whatever their delays, until it is cut.
/// Threads: those that call it and its timers must be one at a time.
class delayed_link {
public:
  delayed_link(std::shared_ptr<core::timers> timers, link_script script);

  /// Delivers later, after everything that was posted before.
  void post(std::function<void()> deliver);

  /// Runs `then` after everything posted so far was delivered, and no earlier
  /// than `delay` from now. Unaffected by `cut`.
  void after_all(core::timespan delay, std::function<void()> then);

  /// Stops all deliveries, including those under way.
  void cut();

private:
  struct state {
    bool open = true;
  };

  std::shared_ptr<core::timers> timers_;
  link_script script_;
  core::time_point last_;
  // Shared with deliveries under way.
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace atelier::runtime
