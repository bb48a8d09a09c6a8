// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// Returns the plan with hosts for what legs wait for, by queue, load time,
/// demand and memory: for variants of which none stands in for another.
///
/// A variant gets one more host where what waits for it would end sooner than
/// with those that it has or that are being made: by two thirds of its load
/// time where all workers are busy, in proportion less the fewer are. So one
/// without a host gets one, and one whose hosts are busy keeps to them as long
/// as a load takes longer. The host is the worker where the last row that waits
/// ends first, counting what leaves with it: of what a worker hosts those
/// leave, until the rest fits its memory, that cost least, the time to load
/// them again times the chance that they are asked for in the next minutes,
/// divided among all their hosts. What is waited for does not lose its last
/// host. Workers whose hosting changes already, as told or as the plan before
/// has it, are left to it; those without a change have no hosting in the plan,
/// and keep what they have.
///
/// Each worker takes what its kind of device does. Costs O(waited variants x
/// workers x variants hosted). Wants no clock: what
/// is asked, and who is there, is told. Source: ours; the measured comparison
/// is in bench/RESULTS.md.
plan host_by_demand(plan made, const demand& asked, const profile& known,
                    const cluster_view& there, const plan& previous);

} // namespace atelier::planning
