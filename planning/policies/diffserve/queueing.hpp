// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/diffserve/leg.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning::diffserve {

/// Weight of the newest of one-second counts of arrivals: a centre of mass 2.1
/// samples back, over the last twenty.
/// Source: DiffServe's artifact; section 3.3 says only that it is a moving
/// mean.
inline constexpr double demand_centre = 2.1;
inline constexpr uint32_t demand_samples = 20;

/// Returns the seconds that a request waits for a leg: waiting over arrivals.
/// Nothing arrives: 0 if nothing waits, else what the workers take to serve it;
/// with no worker either, infinite.
/// Source: DiffServe, section 3.3, Little's law; without arrivals its artifact
///         takes 0.
double waiting_seconds(double waiting, double arrivals, uint32_t workers,
                       double throughput_of_one);

/// Whether the arrivals of the last second are so far from the planned demand
/// that the plan is made anew: by more than a quarter and by more than three
/// standard deviations of a Poisson count.
bool demand_jumped(double arrivals, double planned);

enum class balancing : uint8_t {
  /// Any worker of the variant, each as likely.
  /// Source: DiffServe's artifact; the paper does not say.
  uniform,
  /// The one where the least work waits; the first of equal ones.
  shortest_work,
};

/// Returns the index of the worker that a request goes to, `work` seconds of
/// work waiting at each; nothing where there is none.
std::optional<size_t> balance(std::span<const double> work, balancing rule,
                              core::philox& random);

/// The batch size of systems that find it by trial: it grows by one profiled
/// size each period without a timeout, and is halved after one.
/// Source: DiffServe, section 4.1 (AIMD); the steps are its artifact's.
struct trial_batch {
  uint32_t batch = 1;

  friend bool operator==(const trial_batch&, const trial_batch&) = default;
};

trial_batch with_period(trial_batch now, const leg_times& of, bool timed_out);

} // namespace atelier::planning::diffserve
