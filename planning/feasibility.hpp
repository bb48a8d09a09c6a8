// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// Returns the plan with what can be seen of it whatever its policy: where each
/// route that requests take needs longer than the deadline of the profile's
/// first cascade for its first picture, alone in a batch and without waiting,
/// on the quickest kind of device that is there, its `feasible` is `never` and
/// its `reason` names the deadline and the quickest of them. Where the policy
/// has said so already, or the profile has no deadline, nothing changes.
/// Without workers, devices of no kind in particular are taken to come.
plan judged(plan made, const profile& known, const cluster_view& there);

} // namespace atelier::planning
