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

/// Returns an upper bound of the requests a second that the workers of a plan
/// can answer, by the costs of its routes alone: whatever classes the requests
/// have, however they come, and if each worker is always busy. A later leg
/// counts for the images that the plan expects it to draw again; for none where
/// it does not say. Infinite where no worker is needed.
double carried_rate(const plan& made, const profile& known,
                    const cluster_view& there);

} // namespace atelier::planning
