// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

using lp_column_id = core::strong_id<struct lp_column_tag>;
using lp_row_id = core::strong_id<struct lp_row_tag>;

/// Infinity; a bound with this value means no bound.
inline constexpr double lp_infinity = std::numeric_limits<double>::infinity();

/// One unknown of a program.
struct lp_column {
  std::string name;
  /// The factor in the objective.
  double gain = 0;
  double least = 0;
  double most = lp_infinity;
  /// The column takes only whole values.
  bool whole = false;
};

struct lp_term {
  lp_column_id column;
  double factor = 1;
};

enum class lp_relation : uint8_t { at_most, at_least, equal };

/// One constraint: the relation between the sum of the terms and `bound`.
struct lp_row {
  std::string name;
  std::vector<lp_term> terms;
  lp_relation is = lp_relation::at_most;
  double bound = 0;
};

/// A linear program, which is mixed-integer if a column is whole. Names are for
/// readers only: they may repeat, and no lookup uses them.
struct linear_program {
  bool maximise = true;
  std::vector<lp_column> columns;
  std::vector<lp_row> rows;

  lp_column_id add(lp_column x);
  lp_row_id add(lp_row x);
};

/// The position of a row's slack or of a column in a basic solution.
enum class lp_place : uint8_t { at_low, at_high, basic };

/// A starting basis. A basis for fewer columns fits a program that has more
/// columns at its end: those start at their lower bound.
struct lp_basis {
  std::vector<lp_place> rows;
  std::vector<lp_place> columns;

  friend bool operator==(const lp_basis&, const lp_basis&) = default;
};

enum class lp_status : uint8_t {
  /// No better solution exists, within the requested gap.
  optimal,
  /// The solve stopped at a limit; the values satisfy all constraints.
  feasible,
  /// No values satisfy all constraints.
  infeasible,
  /// The objective has no bound.
  unbounded,
  /// The solve stopped at a limit, without values.
  stopped,
};

std::string_view to_string(lp_status x);

/// The limits of a solve.
struct lp_limits {
  /// The maximum number of callbacks from the solver, about one per pivot; 0:
  /// no limit. Unlike with a time limit, the same program ends at the same
  /// point on every machine.
  uint64_t effort = 0;
  /// Called as often; ends the solve when it returns true. A caller with a
  /// clock can use it as a time limit. May be empty.
  std::function<bool()> stop;
  /// A mixed-integer solution counts as optimal if it is this close to the
  /// bound, relative to its magnitude.
  double gap = 1e-9;
};

struct lp_solution {
  lp_status status = lp_status::stopped;
  double objective = 0;
  /// By column; empty unless optimal or feasible. Whole columns have whole
  /// values.
  std::vector<double> values;
  /// By row: the gain of the objective per unit by which the row's bound rises.
  /// For a mixed-integer program, these are the duals of its last relaxation.
  std::vector<double> duals;
  /// By column: the gain of the objective per unit by which a column at a bound
  /// rises; 0 for basic columns.
  std::vector<double> reduced;
  lp_basis basis;
  /// The number of callbacks that the solve took.
  uint64_t effort = 0;

  bool has_values() const {
    return status == lp_status::optimal || status == lp_status::feasible;
  }
};

/// Solves `p` with lp_solve 5.5.
/// Errors: ec::invalid_argument: a factor is not finite, a term names a column
/// that does not exist, or a lower bound is above its upper bound; the text
/// names it.
/// ec::internal: the solver failed for numerical reasons.
/// Threads: any; solves of one process run one after another, because the
/// library keeps scratch data in static variables.
core::result<lp_solution> solve(const linear_program& p,
                                const lp_limits& limits = {},
                                const lp_basis* start = nullptr);

/// Checks `p`.
/// Errors: ec::invalid_argument, as `solve`.
core::result<void> validate(const linear_program& p);

/// Returns the value of the objective at `values`.
double objective_at(const linear_program& p, const std::vector<double>& values);

/// Returns the largest amount by which `values` violate a constraint, a bound
/// or wholeness; 0 if they satisfy all.
double worst_violation(const linear_program& p,
                       const std::vector<double>& values);

} // namespace atelier::planning
