// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu {

/// How fast a training learns, and when.
struct rate_plan {
  double highest = 1e-3;
  /// Steps in which it rises from nothing.
  uint64_t warm_up_steps = 200;
  /// Share of the budget from which on it falls along a cosine.
  double falls_from = 0;
  /// What is left of it at the end.
  double last_share = 0.01;
};

/// Returns the rate of step `step` (from 0) at `share` (0..1) of the budget.
double rate_at(const rate_plan& plan, uint64_t step, double share);

/// Returns how much of the average of weights is kept at that step: less at the
/// beginning, so that it does not remember how they were drawn.
double average_decay_at(double decay, uint64_t step);

/// Counts the time that steps take. A step that takes many times as long as
/// those before it was stopped from outside: it counts as one of those.
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
