// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// Forgets that variants are to be away where legs wait for them: who asks
/// for one has it come back.
void drop_waited(hosting_wishes& of, const demand& asked,
                 const cluster_view& there);

/// Returns a policy's plan, changed as operators wish: what is to be away is
/// hosted nowhere and leaves the devices' memory; what is to be there is hosted
/// beside what else a worker hosts, by the one that hosts the fewest, where one
/// has room for it, and waits for room otherwise. Costs O(workers) for each
/// variant wished for.
/// @param told variants that are to leave wherever they are in memory, hosted
///        or not
plan with_wishes(plan made, hosting_wishes wishes,
                 const std::vector<core::variant_id>& told,
                 const profile& known, const cluster_view& there);

} // namespace atelier::planning
