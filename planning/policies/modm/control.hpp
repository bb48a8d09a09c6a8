// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/modm/split.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::modm {

/// The gains of the controller.
/// Source: MoDM, section 5.3.
struct pid_gains {
  double proportional = 0.6;
  double integral = 0.05;
  double derivative = 0.05;
};

/// The controller that smooths the split.
struct pid_state {
  /// The wanted number of large workers, not rounded.
  double x = 0;
  double integral = 0;
  double error = 0;

  friend bool operator==(const pid_state&, const pid_state&) = default;
};

/// The minutes of a published step.
/// Source: MoDM's artifact.
inline constexpr double published_minutes = 3;

/// Returns the state `minutes` later, with a constant `target`. In 3 minutes x
/// grows by Kp e + Ki I + Kd D. A shorter time has its fraction of that, and a
/// longer one is split into such steps, so that the speed and stability of the
/// controller do not depend on how often it is called. No time changes nothing.
/// If `workers` is above 0, x stays in 1..workers, and no error is summed while
/// it would leave that range; 0: as published, without bounds.
/// Source: MoDM, Algorithm 1, lines 25-29; its artifact's steps are 3 minutes,
/// and a unit of seconds diverges.
pid_state with_step(pid_state now, double target, double minutes,
                    uint32_t workers = 0, const pid_gains& gains = {});

/// Returns the state after a change of the controlled system, such as the small
/// model or the number of workers: x stays, the sum of errors to other targets
/// is dropped, and the new error has no slope.
pid_state without_bump(pid_state now, double target);

/// Returns x rounded to 1..workers.
/// Source: MoDM, Algorithm 1, line 29.
uint32_t large_workers(const pid_state& now, uint32_t workers);

/// Returns `wanted` if changing to it gains more over `horizon` seconds than
/// the switches cost, otherwise `now`: the default instead of the controller.
/// `gain`: the gain in served requests per second; `switch_seconds`: a worker's
/// load time; `rate_lost`: the requests per second that a loading worker would
/// serve.
uint32_t settled(uint32_t now, uint32_t wanted, double gain, double horizon,
                 double switch_seconds, double rate_lost);

/// The mode of the split.
enum class mode_rule : uint8_t {
  quality,
  throughput,
  /// Quality if a split serves the loads, otherwise throughput.
  automatic,
};

/// One small model of the ladder.
struct small_model {
  /// Full runs per second of one worker.
  double speed = 0;
  /// The mean fraction of a full run that hits still run on it.
  double left = 1;
};

/// How the split is found.
struct split_rules {
  mode_rule mode = mode_rule::throughput;
  /// The published loop and ratio, strict queues and unbounded controller.
  bool as_published = false;
  bool use_pid = true;
  double used = used_capacity;
  /// The minutes since the previous step; 0: the controller makes no step.
  double minutes = published_minutes;
  /// The number of periods in which a better small model must be sufficient
  /// before it is taken.
  uint32_t patience = 2;
};

/// The memory of the split between two plans.
struct split_memory {
  pid_state pid;
  bool started = false;
  uint32_t workers = 0;
  uint32_t small = 0;
  /// The number of periods in which a better small model was sufficient.
  uint32_t better_run = 0;

  friend bool operator==(const split_memory&, const split_memory&) = default;
};

struct split_plan {
  uint32_t large = 0;
  /// The index of the small model.
  uint32_t small = 0;
  serve_mode mode = serve_mode::throughput;
  /// No split of the best small model serves the loads.
  bool saturated = false;
  split_memory memory;
};

/// Returns how many of `workers` run the large model, and which small model the
/// others run. `smalls` is ordered by falling quality. It takes the first one
/// for which quality mode has a split: a faster one at once, a better one after
/// `patience` periods in which it is sufficient. Without arrivals or knowledge,
/// it keeps the split of `before`, at the start all large. Without a small
/// model, all are large.
/// Source: MoDM, section 5.3, Algorithm 1, and Figure 10 for the ladder, whose
/// rule it does not state.
split_plan plan_split(uint32_t workers, double large_speed,
                      std::span<const small_model> smalls, const window& seen,
                      const split_memory& before, const split_rules& rules);

} // namespace atelier::planning::modm
