// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/solver/match_workers.hpp>
#include <atelier/planning/solver/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::planning::detail {

/// The profile's ladder without dominated levels, and where those came from.
struct kept_ladder {
  argus::ladder levels;
  /// By kept level: index in the profile, which is the class too.
  std::vector<uint32_t> index;
};

/// Returns the profile's ladder of models; where it has none, the two of its
/// first cascade, else those that its cache refines with; else no level.
ladder_profile models_of(const profile& known);

kept_ladder kept_of(const profile& known, const ladder_profile& of);

/// Returns the kept level of a class: its own or the nearest slower one.
size_t kept_class(const kept_ladder& of, uint32_t c);

/// Returns what prompts of each kept level lose on each other one.
table degradation_of_ladder(const ladder_profile& of, const kept_ladder& kept);

/// Returns the allocation by a policy's rule. `pools`: any worker runs any
/// level.
core::result<argus::allocation> allocated(argus_rules::allocation_rule by,
                                          const argus::ladder& levels,
                                          const argus::load_to_place& asked,
                                          bool pools);

/// Returns the levels as they are where the share `fresh` of all requests runs
/// in full whatever its level: what is planned with them is what runs.
argus::ladder with_fresh(argus::ladder levels, double fresh);

/// Returns the share of requests that can run in full: `wanted`, or as many as
/// the load leaves time for.
double fresh_share(const argus::ladder& levels,
                   const argus::load_to_place& load, double wanted);

/// Returns how many workers have each level; one that has several counts for
/// the first.
std::vector<uint32_t> hosting_levels(const cluster_view& there,
                                     const argus::ladder& levels);

/// Returns the workers by what they can run at once.
std::vector<argus::worker_group> groups_of(const cluster_view& there,
                                           const argus::ladder& levels);

/// Returns a target for each level, with another variant beside it.
std::vector<hosting_target> targets_of(const argus::ladder& levels,
                                       const std::vector<uint32_t>& counts,
                                       std::optional<core::variant_id> beside);

/// Gives every worker a level. Changing K costs nothing: those that have it
/// keep it, the others follow in order.
void set_levels(plan& next, const cluster_view& there,
                const argus::ladder& levels, std::vector<uint32_t> counts);

/// Whether every level with a share is at some worker.
bool somebody_has(const cluster_view& there, const argus::ladder& levels,
                  const std::vector<double>& share);

bool all_host(const cluster_view& there, core::variant_id v);

/// Whether every worker has what the plan before gave it.
bool all_as_planned(const cluster_view& there, const plan& previous);

} // namespace atelier::planning::detail
