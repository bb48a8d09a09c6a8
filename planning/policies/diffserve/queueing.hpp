// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/leg.hpp>

#include <cstdint>

namespace atelier::planning::diffserve {

/// The weighting of one-second counts of arrivals: a centre of mass 2.1 samples
/// back, over the last twenty.
/// Source: DiffServe's artifact; section 3.3 says only that it is a moving
/// mean.
inline constexpr double demand_centre = 2.1;
inline constexpr uint32_t demand_samples = 20;

/// Returns the seconds that a request waits for a leg: waiting over arrivals.
/// Without arrivals, it is 0 if no request waits, otherwise the time in which
/// the workers serve the queue; it is infinite if no worker exists either.
/// Source: DiffServe, section 3.3, Little's law; without arrivals its artifact
/// takes 0.
double waiting_seconds(double waiting, double arrivals, uint32_t workers,
                       double throughput_of_one);

/// Returns whether the arrivals of the last second differ so much from the
/// planned demand that a new plan is made: by more than a quarter and by more
/// than three standard deviations of a Poisson count.
bool demand_jumped(double arrivals, double planned);

/// The batch size of systems that find it by trial: it grows by one profiled
/// size in each period without a timeout, and is halved after one.
/// Source: DiffServe, section 4.1 (AIMD); the steps are its artifact's.
struct trial_batch {
  uint32_t batch = 1;

  friend bool operator==(const trial_batch&, const trial_batch&) = default;
};

trial_batch with_period(trial_batch now, const leg_times& of, bool timed_out);

} // namespace atelier::planning::diffserve
