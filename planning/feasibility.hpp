// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// Returns the plan with the faults that are visible for every policy. If each
/// route with a share needs longer than the deadline of the profile's first
/// cascade for its first image, alone in a batch and without waiting, on the
/// quickest available kind of device, the plan's `feasible` is `never` and its
/// `reason` names the deadline and the quickest route. If the policy has
/// already said so, or the profile has no deadline, the plan is unchanged.
/// Without workers, devices of no particular kind are assumed.
plan judged(plan made, const profile& known, const cluster_view& there);

} // namespace atelier::planning
