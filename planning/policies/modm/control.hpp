// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/modm/split.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::modm {

/// Source: MoDM, section 5.3.
struct pid_gains {
  double proportional = 0.6;
  double integral = 0.05;
  double derivative = 0.05;
};

/// The controller that smooths the split.
struct pid_state {
  /// Large workers wanted, not rounded.
  double x = 0;
  double integral = 0;
  double error = 0;

  friend bool operator==(const pid_state&, const pid_state&) = default;
};

/// Minutes of a published step.
/// Source: MoDM's artifact.
inline constexpr double published_minutes = 3;

/// Returns the state `minutes` later, with `target` all that time. In 3 minutes
/// x grows by Kp e + Ki I + Kd D; a shorter time has its part of that, a longer
/// one is cut into such steps, so that the controller is as quick and as stable
/// however often it is called. No time: no change. `workers` more than 0: x
/// stays in 1..workers, and no error is summed while it would leave; 0: as
/// published, without bounds.
/// Source: MoDM, Algorithm 1, lines 25-29; its artifact's steps are 3 minutes,
///         and a unit of seconds diverges.
pid_state with_step(pid_state now, double target, double minutes,
                    uint32_t workers = 0, const pid_gains& gains = {});

/// Returns the state where what it steers changes, as the small model or the
/// number of workers does: x stays, nothing is left of the sum of errors to
/// other targets, and the new error is no slope.
pid_state without_bump(pid_state now, double target);

/// Returns x rounded to 1..workers.
/// Source: MoDM, Algorithm 1, line 29.
uint32_t large_workers(const pid_state& now, uint32_t workers);

/// Returns `wanted` where changing to it gains more over `horizon` seconds than
/// the switches cost, else `now`: the default instead of the controller.
/// `gain`: of served requests a second; `switch_seconds`: a worker's load time;
/// `rate_lost`: what a worker that loads would serve a second.
uint32_t settled(uint32_t now, uint32_t wanted, double gain, double horizon,
                 double switch_seconds, double rate_lost);

/// Which mode to run in.
enum class mode_rule : uint8_t {
  quality,
  throughput,
  /// Quality where a split serves the loads, else throughput.
  automatic,
};

/// One small model of the ladder.
struct small_model {
  /// Full runs a second of one worker.
  double speed = 0;
  /// Mean share of a full run that hits still run on it.
  double left = 1;
};

/// How the split is found.
struct split_rules {
  mode_rule mode = mode_rule::throughput;
  /// The published loop and ratio, strict queues and unbounded controller.
  bool as_published = false;
  bool use_pid = true;
  double used = used_capacity;
  /// Since the step before; 0: the controller makes none.
  double minutes = published_minutes;
  /// Periods in which a better small model would do before it is taken.
  uint32_t patience = 2;
};

/// What the split remembers between two plans.
struct split_memory {
  pid_state pid;
  bool started = false;
  uint32_t workers = 0;
  uint32_t small = 0;
  /// Periods in which a better small model would have done.
  uint32_t better_run = 0;

  friend bool operator==(const split_memory&, const split_memory&) = default;
};

struct split_plan {
  uint32_t large = 0;
  /// Index of the small model.
  uint32_t small = 0;
  serve_mode mode = serve_mode::throughput;
  /// No split of the best small model serves the loads.
  bool saturated = false;
  split_memory memory;
};

/// Returns how many of `workers` run the large model, and which small model the
/// others run. `smalls` by falling quality. The first for which quality mode
/// has a split is taken: a faster one at once, a better one after `patience`
/// periods in which it would do. Nothing arrived, or nothing is known: the
/// split of `before`, all large at the start. No small model: all large.
/// Source: MoDM, section 5.3, Algorithm 1, and Figure 10 for the ladder, whose
///         rule it does not state.
split_plan plan_split(uint32_t workers, double large_speed,
                      std::span<const small_model> smalls, const window& seen,
                      const split_memory& before, const split_rules& rules);

} // namespace atelier::planning::modm
