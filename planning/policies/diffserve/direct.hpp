// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <vector>

namespace atelier::planning::diffserve {

/// Requests of one predicted difficulty.
struct difficulty {
  /// The fraction of all requests.
  double share = 0;
  deferral_profile deferred = unknown_deferral();
};

/// A cascade's plan that sends some classes directly to the heavy leg.
struct direct_plan {
  cascade_plan base;
  /// By class: the fraction that skips the light leg.
  std::vector<double> direct;
};

/// Returns whether a request that is deferred with probability `p` takes less
/// device time if it goes directly to the heavy leg: p > 1 - (e1/b1) / (e2/b2).
bool direct_is_cheaper(double p, const batch_time& light,
                       const batch_time& heavy);

/// Returns the plan of the highest threshold if part of each class may skip the
/// light leg: light serves sum of D_j (1 - d_j), heavy sum of D_j (d_j + (1 -
/// d_j) f_j(t)). With d = 0 it is the paper's problem, so that its threshold is
/// never lower. It is exact: for each pair of batches and threshold, the parts
/// are a continuous knapsack.
/// Errors: those of allocate; ec::invalid_argument: the shares are not a
/// distribution.
core::result<direct_plan> allocate_direct(
  const cascade_problem& asked, const std::vector<difficulty>& classes);

} // namespace atelier::planning::diffserve
