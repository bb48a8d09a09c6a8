// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/solver/linear_program.hpp>

#include <string>
#include <vector>

namespace atelier::planning {

/// The reason why a linear program has no solution.
struct lp_conflict {
  /// Constraints that contradict each other within the columns' bounds,
  /// although any proper subset can hold. Empty: the program has a solution.
  std::vector<lp_row_id> rows;
  /// The minimum violation, summed over all constraints of the program: the
  /// smallest total change of their bounds that allows a solution.
  double shortfall = 0;
};

/// Finds a minimal set of constraints that contradict each other: an elastic
/// filter, then the removal of one after the other.
/// Errors: those of solve; ec::unavailable if a limit was reached first.
/// Source: Chinneck, Dravnieks, Locating minimal infeasible constraint sets in
/// linear programs, ORSA Journal on Computing 3 (1991).
core::result<lp_conflict> explain_infeasible(const linear_program& p,
                                             const lp_limits& limits = {});

/// Returns a sentence for people that names the constraints of `why`.
std::string to_text(const linear_program& p, const lp_conflict& why);

} // namespace atelier::planning
