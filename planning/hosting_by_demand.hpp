// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// Returns the plan with hosts for the variants that legs wait for, by queue,
/// load time, demand and memory. It applies to variants that cannot replace
/// each other.
/// A variant gets one more host if its queue would then end sooner than with
/// the current and loading hosts: by two thirds of its load time if all workers
/// are busy, and proportionally less if fewer are. So a variant without a host
/// gets one, and a variant whose hosts are busy keeps them as long as a load
/// takes longer. The new host is the worker where the last waiting row ends
/// first, including the cost of the variants that leave. Until the rest fits
/// the worker's memory, the cheapest variants leave: the cost is the time to
/// load them again times the probability of a request in the next minutes,
/// divided among all their hosts. A variant with waiting legs keeps its last
/// host. Workers whose hosting is already changing, by report or by the
/// previous plan, are left alone; workers without a change have no hosting in
/// the plan, and keep their variants.
/// Each worker has the costs of its kind of device. The function costs O(waited
/// variants x workers x variants hosted) and needs no clock: demand and workers
/// are arguments. Source: our own design; bench/RESULTS.md has the measured
/// comparison.
plan host_by_demand(plan made, const demand& asked, const profile& known,
                    const cluster_view& there, const plan& previous);

} // namespace atelier::planning
