// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/solver/match_workers.hpp>
#include <atelier/planning/solver/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::planning::detail {

/// The profile's ladder without dominated levels, and the original indices.
struct kept_ladder {
  argus::ladder levels;
  /// By kept level: its index in the profile, which is also the class.
  std::vector<uint32_t> index;
};

/// Returns the profile's ladder of models. Without one, it has the two variants
/// of the first cascade, otherwise those that the cache refines with, otherwise
/// no level.
ladder_profile models_of(const profile& known);

kept_ladder kept_of(const profile& known, const ladder_profile& of);

/// Returns the kept level of a class: its own or the nearest slower one.
size_t kept_class(const kept_ladder& of, uint32_t c);

/// Returns the loss of prompts of each kept level on each other level.
table degradation_of_ladder(const ladder_profile& of, const kept_ladder& kept);

/// Returns the levels if the fraction `fresh` of all requests runs in full
/// whatever its level: plans made with them match what runs.
argus::ladder with_fresh(argus::ladder levels, double fresh);

/// Returns the fraction of requests that can run in full: `wanted`, or as much
/// as the load leaves time for.
double fresh_share(const argus::ladder& levels,
                   const argus::load_to_place& load, double wanted);

/// Returns the number of workers that host each level; a worker with several
/// levels counts for the first.
std::vector<uint32_t> hosting_levels(const cluster_view& there,
                                     const argus::ladder& levels);

/// Returns the workers grouped by the levels that they can run at once.
std::vector<argus::worker_group> groups_of(const cluster_view& there,
                                           const argus::ladder& levels);

/// Returns a target for each level, which also hosts the variant `beside`.
std::vector<hosting_target> targets_of(const argus::ladder& levels,
                                       const std::vector<uint32_t>& counts,
                                       std::optional<core::variant_id> beside);

/// Assigns a level to every worker. Changing K costs nothing: workers that have
/// their level keep it, the others follow in order.
void set_levels(plan& next, const cluster_view& there,
                const argus::ladder& levels, std::vector<uint32_t> counts);

/// Returns whether every level with a share has a worker.
bool somebody_has(const cluster_view& there, const argus::ladder& levels,
                  const std::vector<double>& share);

bool all_host(const cluster_view& there, core::variant_id v);

/// Returns whether every worker has the hosting of the previous plan.
bool all_as_planned(const cluster_view& there, const plan& previous);

} // namespace atelier::planning::detail
