// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/solver/linear_program.hpp>

#include <optional>

namespace atelier::planning {

/// The result of a search among the whole values.
struct branching {
  /// A better solution than the known one, without duals and a basis; empty:
  /// none was found.
  std::optional<lp_solution> better;
  /// The search was exhaustive. Otherwise a limit ended it, or the library did
  /// not answer for some part.
  bool complete = false;
  /// The number of callbacks that it took.
  uint64_t effort = 0;
};

/// Searches `p`, some of whose columns are whole, for a solution that is better
/// than `known` by more than rounding. The search is a depth-first branch and
/// bound on the column that is farthest from whole, its nearer side first; each
/// part's relaxation is solved from the start.
///
/// lp_solve's own search continues from the basis of the previous part, and
/// occasionally loses a solution at a corner: in about one in 20,000 small
/// random programs. This search checks it.
/// Threads: under detail::lp_library_lock.
branching search_whole(const linear_program& p,
                       const std::optional<double>& known,
                       const lp_limits& limits);

} // namespace atelier::planning
