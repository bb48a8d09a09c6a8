// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policies/diffserve/leg.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <cstdint>
#include <limits>
#include <optional>

namespace atelier::planning::diffserve {

/// Over-provisioning: demand is multiplied by it.
/// Source: DiffServe, section 3.3 (its artifact uses 1.2).
inline constexpr double over_provisioning = 1.05;

/// The same where the paper's name does not bind: five seeds of the first
/// cascade's trace gave 0.75 % violations instead of 4.5 %.
inline constexpr double generous_provisioning = 1.2;

/// What one solve is asked for.
struct cascade_problem {
  leg_times light;
  leg_times heavy;
  deferral_profile deferred = unknown_deferral();
  /// Requests a second, over-provisioning included.
  double demand = 0;
  uint32_t workers = 0;
  /// Seconds from arrival to the final picture.
  double slo = 0;
  /// Seconds that a request waits for each leg.
  double wait_light = 0;
  double wait_heavy = 0;
  /// Workers that host each now.
  uint32_t hosting_light = 0;
  uint32_t hosting_heavy = 0;

  /// Execution times count so often in the deadline; 2 with waits of 0 is the
  /// rule of systems without a model of queueing.
  double execution_factor = 1;
  /// Set: only this threshold, only these batches.
  std::optional<size_t> threshold;
  std::optional<uint32_t> light_batch;
  std::optional<uint32_t> heavy_batch;
  /// Set: so many workers run the light leg, and the others the heavy one.
  std::optional<uint32_t> light_workers;
  /// At most this share is deferred: where quality is best at a mix, more of
  /// the heavy variant is worse.
  double most_deferred = 1;
  /// Whether everything may go to the heavy leg at once, and whether a
  /// threshold of 0 saves the judge.
  bool bypass = false;
};

/// Which simplification a plan needed.
enum class cascade_step : uint8_t {
  as_asked,
  /// The waits were left out.
  without_waits,
  /// All workers on the light leg, and not everything is admitted.
  shedding,
};

struct cascade_plan {
  /// Index of the threshold.
  size_t threshold = 0;
  /// Share that goes to the heavy leg.
  double deferred = 0;
  /// Requests skip the light leg: all are deferred, and its picture would be
  /// thrown away.
  bool direct = false;
  uint32_t light = 0;
  uint32_t heavy = 0;
  uint32_t light_batch = 1;
  uint32_t heavy_batch = 1;
  /// Requests a second that can be admitted; infinite: all.
  double admitted = std::numeric_limits<double>::infinity();
  cascade_step step = cascade_step::as_asked;

  friend bool operator==(const cascade_plan&, const cascade_plan&) = default;
};

/// Returns the plan of the highest threshold: max t subject to
///   e1(b1) + q1 + e2(b2) + q2 <= slo,   x1 T1(b1) >= D,
///   x2 T2(b2) >= D f(t),                x1 + x2 <= workers,
/// in closed form: for each pair of batches within the deadline x1 is the least
/// that serves D, x2 the rest, and t the highest that x2 serves. The threshold
/// is then the smallest with the same share; ties go to the least e1 + e2, then
/// to the fewest workers that change; spare workers join the busier leg.
/// Where no plan exists, first the waits are left out, then the heavy leg is
/// dropped, and last all workers run the light leg and the load is shed.
/// No demand: as if it were tiny. With `light_workers` set nothing gives way
/// but the waits. Errors: ec::invalid_argument: an empty leg, a demand or time
/// that is no
///         number; ec::unavailable: no worker, or `light_workers` cannot serve
///         the demand in time; ec::bad_config: not even one
///         picture of the light leg is ready within the deadline.
/// Source: DiffServe, section 3.3, Eq. 1-5.
core::result<cascade_plan> allocate(const cascade_problem& asked);

/// Returns the plan before any demand was seen.
/// Source: DiffServe's artifact: batches of 8, half of the workers,
/// threshold 1.
cascade_plan first_plan(const cascade_problem& asked);

/// The same optimum by lp_solve: a binary for each batch size and threshold, a
/// count of workers for each batch size. `bypass` is not looked at.
/// Errors: ec::unavailable where it has no solution, or a limit was reached.
/// Source: DiffServe, section 3.3, Eq. 1-5, made linear over the thresholds.
core::result<cascade_plan> allocate_by_programme(const cascade_problem& asked,
                                                 const lp_limits& limits = {});

} // namespace atelier::planning::diffserve
