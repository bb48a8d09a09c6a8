// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace atelier::planning {

/// Returns whether a worker may host these together, and has the memory for
/// what they take on its kind of device.
bool may_host(const worker_view& w,
              const std::vector<core::variant_id>& hosting,
              const profile& known);

/// Returns where each worker of a plan stands in it.
std::unordered_map<core::worker_id, size_t> places_in(const plan& made);

/// Returns what a worker will host; what nobody plans stays.
/// @param planned what a plan says of it; null: nothing
const std::vector<core::variant_id>& hosting_after(const assignment* planned,
                                                   const worker_view& w);

/// Has a worker host these; what was planned with the others goes.
void host_instead(assignment& a, std::vector<core::variant_id> hosting);

/// Returns a plan without what its workers cannot do: one that it would have
/// host what it may not, or more than its memory holds, keeps what it has.
plan only_possible(plan made, const profile& known, const cluster_view& there);

/// Returns a policy's plan, changed so that every variant for which legs wait
/// in the lane that all its hosts serve keeps a host, where there are workers
/// enough. Policies plan for the demand that comes; where it ends, what waits
/// for a variant that they have no use for any more would wait for ever.
///
/// A host is taken from what has others, or is not waited for; where two would
/// do, one that has the variant already, then the first. One that may not host
/// it is not asked. Where fewer workers are there than variants, those that
/// wait without a host go first, so that they take turns as what waits is
/// worked off. Costs O(waited variants * workers).
plan hosting_waiting(plan made, const demand& asked, const profile& known,
                     const cluster_view& there);

} // namespace atelier::planning
