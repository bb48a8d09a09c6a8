// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/solver/linear_program.hpp>

#include <string>
#include <vector>

namespace atelier::planning {

/// Why a programme has no solution.
struct lp_conflict {
  /// Constraints that cannot hold together with the columns' bounds, although
  /// they can without any one of them. Empty: the programme has a solution.
  std::vector<lp_row_id> rows;
  /// What is missing at least, summed over all constraints of the programme:
  /// the smallest total by which their bounds would have to give way.
  double shortfall = 0;
};

/// Finds a smallest set of constraints that contradict each other: an elastic
/// filter, then the removal of one after the other.
/// Errors: those of solve; ec::unavailable where a limit was reached first.
/// Source: Chinneck, Dravnieks, Locating minimal infeasible constraint sets in
///         linear programs, ORSA Journal on Computing 3 (1991).
core::result<lp_conflict> explain_infeasible(const linear_program& p,
                                             const lp_limits& limits = {});

/// Returns a sentence for people that names the constraints of `why`.
std::string to_text(const linear_program& p, const lp_conflict& why);

} // namespace atelier::planning
