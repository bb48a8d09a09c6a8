// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace atelier::planning {

/// Returns whether a worker may host these together, could load each of them
/// when it last tried, and has enough memory for them on its kind of device.
bool may_host(const worker_view& w,
              const std::vector<core::variant_id>& hosting,
              const profile& known);

/// Returns the index of each worker in a plan.
std::unordered_map<core::worker_id, size_t> places_in(const plan& made);

/// Returns the variants that a worker will host; without a planned change, the
/// current ones.
/// @param planned the worker's part of a plan; null: none
const std::vector<core::variant_id>& hosting_after(const assignment* planned,
                                                   const worker_view& w);

/// Makes a worker host these, and drops the rest of its planned hosting.
void host_instead(assignment& a, std::vector<core::variant_id> hosting);

/// Returns a plan without impossible hostings. Variants that a worker cannot
/// load are left out of its hosting; a worker with a variant that it may not
/// host, or with more than its memory holds, keeps its variants.
plan only_possible(plan made, const profile& known, const cluster_view& there);

/// Returns a policy's plan, changed so that every variant for which legs wait
/// in the queue that all its hosts serve keeps a host, if there are enough
/// workers. Policies plan for future demand; when the demand for a variant
/// ends, legs that wait for it would otherwise wait forever.
/// A worker that will host another level of the variant's model hosts it, too,
/// as that takes neither memory nor a load. Otherwise a host is taken from a
/// variant that has other hosts, or that no leg waits for. Among two such
/// workers, one that already has the variant comes first, then the first one.
/// Workers that may not host the variant are skipped. If there are fewer
/// workers than variants, waiting variants without a host come first, so that
/// they take turns as the queue shrinks. Costs O(waited variants * workers).
plan hosting_waiting(plan made, const demand& asked, const profile& known,
                     const cluster_view& there);

} // namespace atelier::planning
