// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/solver/linear_program.hpp>

#include <optional>

namespace atelier::planning {

/// What a search among the whole values found.
struct branching {
  /// Better than what was known, without duals and a basis; empty: nothing is.
  std::optional<lp_solution> better;
  /// Everything was looked at. Otherwise a limit ended it, or the library did
  /// not answer for some part.
  bool complete = false;
  /// Calls back that it took.
  uint64_t effort = 0;
};

/// Searches `p`, some of whose columns are whole, for a solution that is better
/// than `known` by more than rounding: branch and bound, depth first, on the
/// column that is farthest from whole, its nearer side first; each part's
/// relaxation is solved from the start.
///
/// lp_solve's own search goes on from the basis of the part before, and loses a
/// solution at a corner now and then: about one in 20,000 small random
/// programmes. This one is for checking it.
/// Threads: under detail::lp_library_lock.
branching search_whole(const linear_program& p,
                       const std::optional<double>& known,
                       const lp_limits& limits);

} // namespace atelier::planning
