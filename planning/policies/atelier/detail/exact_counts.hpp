// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/atelier/solve.hpp>

#include <cstdint>
#include <span>

namespace atelier::planning::unified {

/// Searches all whole counts for better ones than those of `best`, and replaces
/// it. Branch and bound: a part of the search has a range of devices for each
/// pool, and a bound from a linear program in which a pool's work lies below a
/// line over its range, as the busy share rises with the number of devices.
/// Returns whether the search ended within `with.exact_nodes` programs: then no
/// counts are better than the result.
bool search_all_counts(const problem& asked, const solve_options& with,
                       decision& best);

/// Returns the counts with the devices that no pool has, as far as they host a
/// used pool's variants now: this headroom costs nothing.
std::vector<uint32_t> with_headroom(const problem& asked,
                                    std::vector<uint32_t> count);

} // namespace atelier::planning::unified
