// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu {

/// Schedule of a training's learning rate.
struct rate_plan {
  double highest = 1e-3;
  /// Number of steps in which the rate rises from zero.
  uint64_t warm_up_steps = 200;
  /// Share of the budget at which the rate starts to fall along a cosine.
  double falls_from = 0;
  /// Share of the highest rate that remains at the end.
  double last_share = 0.01;
};

/// Returns the learning rate of step `step` (from 0) at `share` (0..1) of the
/// budget.
double rate_at(const rate_plan& plan, uint64_t step, double share);

/// Returns the decay of the weights' average at a step. It is lower at the
/// beginning, so that the average does not keep the initial weights.
double average_decay_at(double decay, uint64_t step);

/// Counts the time that steps take. If a step takes many times as long as
/// earlier steps, the process was paused from outside; the step is counted as a
/// usual one.
class busy_clock {
public:
  explicit busy_clock(double seconds = 0) : seconds_(seconds) {}

  void add(double step_seconds);

  double seconds() const {
    return seconds_;
  }

private:
  double seconds_;
  double usual_ = 0;
};

} // namespace atelier::gpu
