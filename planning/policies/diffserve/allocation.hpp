// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policies/diffserve/leg.hpp>

#include <cstdint>
#include <limits>
#include <optional>

namespace atelier::planning::diffserve {

/// Over-provisioning: demand is multiplied by this factor.
/// Source: DiffServe, section 3.3 (its artifact uses 1.2).
inline constexpr double over_provisioning = 1.05;

/// The factor for policies that need not follow the paper: five seeds of the
/// first cascade's trace gave 0.75 % violations instead of 4.5 %.
inline constexpr double generous_provisioning = 1.2;

/// The input of one solve.
struct cascade_problem {
  leg_times light;
  leg_times heavy;
  deferral_profile deferred = unknown_deferral();
  /// Requests per second, including over-provisioning.
  double demand = 0;
  uint32_t workers = 0;
  /// The seconds from arrival to the final image.
  double slo = 0;
  /// The seconds that a request waits for each leg.
  double wait_light = 0;
  double wait_heavy = 0;
  /// The number of workers that host each variant now.
  uint32_t hosting_light = 0;
  uint32_t hosting_heavy = 0;

  /// The factor of execution times in the deadline; 2 with waits of 0 is the
  /// rule of systems without a model of queueing.
  double execution_factor = 1;
  /// If set, only this threshold and these batches are allowed.
  std::optional<size_t> threshold;
  std::optional<uint32_t> light_batch;
  std::optional<uint32_t> heavy_batch;
  /// If set, this number of workers runs the light leg, and the others run the
  /// heavy one.
  std::optional<uint32_t> light_workers;
  /// The maximum fraction that is deferred: if quality is best at a mix, more
  /// of the heavy variant is worse.
  double most_deferred = 1;
  /// Whether all requests may go directly to the heavy leg, and whether a
  /// threshold of 0 saves the judge.
  bool bypass = false;
};

/// The simplification that a plan needed.
enum class cascade_step : uint8_t {
  as_asked,
  /// The waits were ignored.
  without_waits,
  /// All workers run the light leg, and not all requests are admitted.
  shedding,
};

struct cascade_plan {
  /// The index of the threshold.
  size_t threshold = 0;
  /// The fraction that goes to the heavy leg.
  double deferred = 0;
  /// Requests skip the light leg: all are deferred, and the light image would
  /// be discarded.
  bool direct = false;
  uint32_t light = 0;
  uint32_t heavy = 0;
  uint32_t light_batch = 1;
  uint32_t heavy_batch = 1;
  /// The requests per second that can be admitted; infinite: all.
  double admitted = std::numeric_limits<double>::infinity();
  cascade_step step = cascade_step::as_asked;

  friend bool operator==(const cascade_plan&, const cascade_plan&) = default;
};

/// Returns the plan of the highest threshold: max t subject to
///   e1(b1) + q1 + e2(b2) + q2 <= slo,   x1 T1(b1) >= D,
///   x2 T2(b2) >= D f(t),                x1 + x2 <= workers,
/// in closed form: for each pair of batches within the deadline, x1 is the
/// least that serves D, x2 the rest, and t the highest that x2 serves. The
/// threshold is then the smallest with the same share; ties are broken by the
/// least e1 + e2, then by the fewest workers that change; spare workers join
/// the busier leg. If no plan exists, first the waits are ignored, then the
/// heavy leg is dropped, and last all workers run the light leg and the load is
/// shed. Without demand, it plans as if demand were tiny. With `light_workers`
/// set, only the waits may be ignored.
/// Errors: ec::invalid_argument: an empty leg, a demand or time that is not a
/// number; ec::unavailable: no worker, or `light_workers` cannot serve the
/// demand in time; ec::bad_config: not even one image of the light leg is ready
/// within the deadline.
/// Source: DiffServe, section 3.3, Eq. 1-5.
core::result<cascade_plan> allocate(const cascade_problem& asked);

/// Returns the plan before any demand was seen.
/// Source: DiffServe's artifact: batches of 8, half of the workers, threshold
/// 1.
cascade_plan first_plan(const cascade_problem& asked);

} // namespace atelier::planning::diffserve
