// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>
#include <atelier/planning/settling.hpp>

namespace atelier::planning::diffserve {

/// The function that finds a plan: `allocate`, or `allocate_random`.
using allocator = core::result<cascade_plan> (*)(const cascade_problem&);

/// The current split of workers is kept while it serves this fraction of the
/// over-provisioned demand.
inline constexpr double settled_serves = 0.9;

/// Returns the plan to follow: that of `asked`, or the best threshold and
/// batches for the split of workers in `before`. The split stays while it
/// serves the demand, until another one is worth its loads of `load_seconds`
/// each. If it misses the demand by more than chance explains, given the
/// standard deviation `noise`, the plan of `asked` is taken at once. `rules`
/// say how long another split must have been worth it. `fid`: the measured
/// quality; empty: the deferred fraction counts as quality. Errors: those of
/// `by`. Source: the improvement of DiffServe, section 3.3, which moves workers
/// whenever its solution does.
core::result<cascade_plan> allocate_settled(
  allocator by, const cascade_problem& asked, const quality_table& fid,
  double load_seconds, const cascade_plan& before, settling& state,
  core::time_point now, double noise = 0, const settling_rules& rules = {});

} // namespace atelier::planning::diffserve
