// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// Cancels unload wishes for variants that legs wait for: a request for a
/// variant loads it again.
void drop_waited(hosting_wishes& of, const demand& asked,
                 const cluster_view& there);

/// Returns a policy's plan, changed by the operators' wishes. Variants to
/// unload are hosted nowhere and leave the devices' memory. Variants to load
/// are hosted beside a worker's other variants, by the worker with the fewest
/// that has room; without room they wait for it. Costs O(workers) for each
/// variant with a wish.
/// @param unloaded variants that must leave wherever they are in memory, hosted
/// or not
plan with_wishes(plan made, hosting_wishes wishes,
                 const std::vector<core::variant_id>& unloaded,
                 const profile& known, const cluster_view& there);

} // namespace atelier::planning
