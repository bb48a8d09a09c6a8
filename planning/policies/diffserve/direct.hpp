// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <vector>

namespace atelier::planning::diffserve {

/// Requests of one predicted difficulty.
struct difficulty {
  /// Share of all requests.
  double share = 0;
  deferral_profile deferred = unknown_deferral();
};

/// A cascade's plan that sends some classes to the heavy leg at once.
struct direct_plan {
  cascade_plan base;
  /// By class: the part that skips the light leg.
  std::vector<double> direct;
};

/// Whether a request that is deferred with probability `p` takes less device
/// time if it goes to the heavy leg at once: p > 1 - (e1/b1) / (e2/b2).
bool direct_is_cheaper(double p, const batch_time& light,
                       const batch_time& heavy);

/// Returns the plan of the highest threshold where each class may skip the
/// light leg in part: light serves sum of D_j (1 - d_j), heavy sum of D_j (d_j
/// + (1 - d_j) f_j(t)). With d = 0 it is the paper's problem, so that its
/// threshold is never lower. Exact: for each pair of batches and threshold the
/// parts are a continuous knapsack.
/// Errors: those of allocate; ec::invalid_argument: shares that are no
///         distribution.
core::result<direct_plan> allocate_direct(
  const cascade_problem& asked, const std::vector<difficulty>& classes);

} // namespace atelier::planning::diffserve
