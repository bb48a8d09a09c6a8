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

/// The largest magnitude that counts as a number; beyond it is no bound.
inline constexpr double lp_infinity = std::numeric_limits<double>::infinity();

/// One unknown of a programme.
struct lp_column {
  std::string name;
  /// Its factor in the objective.
  double gain = 0;
  double least = 0;
  double most = lp_infinity;
  /// Takes whole values only.
  bool whole = false;
};

struct lp_term {
  lp_column_id column;
  double factor = 1;
};

enum class lp_relation : uint8_t { at_most, at_least, equal };

/// One constraint: the sum of the terms stands in a relation to `bound`.
struct lp_row {
  std::string name;
  std::vector<lp_term> terms;
  lp_relation is = lp_relation::at_most;
  double bound = 0;
};

/// A linear programme, mixed-integer where a column is whole. Names are for
/// people: they may repeat, and nothing is found by them.
struct linear_program {
  bool maximise = true;
  std::vector<lp_column> columns;
  std::vector<lp_row> rows;

  lp_column_id add(lp_column x);
  lp_row_id add(lp_row x);
};

/// Where a row's slack or a column stands in a basic solution.
enum class lp_place : uint8_t { at_low, at_high, basic };

/// A starting basis. One made for fewer columns fits a programme that has more
/// of them at its end: those start at their lower bound.
struct lp_basis {
  std::vector<lp_place> rows;
  std::vector<lp_place> columns;

  friend bool operator==(const lp_basis&, const lp_basis&) = default;
};

enum class lp_status : uint8_t {
  /// No better solution exists, within the gap asked for.
  optimal,
  /// Stopped at a limit; the values hold all constraints.
  feasible,
  /// No values hold all constraints.
  infeasible,
  /// The objective has no bound.
  unbounded,
  /// Stopped at a limit, without values.
  stopped,
};

std::string_view to_string(lp_status x);

/// How far a solve may go.
struct lp_limits {
  /// Most calls back from the solver, about one for each pivot; 0: no limit.
  /// The same programme ends at the same point on every machine, unlike with a
  /// limit in time.
  uint64_t effort = 0;
  /// Asked as often; ends the solve when it returns true. A caller with a clock
  /// makes a time limit of it. May be empty.
  std::function<bool()> stop;
  /// A mixed-integer solution counts as optimal when it is this near to the
  /// bound, relative to its magnitude.
  double gap = 1e-9;
};

struct lp_solution {
  lp_status status = lp_status::stopped;
  double objective = 0;
  /// By column; empty unless optimal or feasible. Whole columns are whole.
  std::vector<double> values;
  /// By row: what the objective gains for each unit more of the row's bound. Of
  /// a mixed-integer programme: those of its last relaxation.
  std::vector<double> duals;
  /// By column: what the objective gains for each unit more of a column that
  /// stands at a bound; 0 for basic ones.
  std::vector<double> reduced;
  lp_basis basis;
  /// Calls back that the solve took.
  uint64_t effort = 0;

  bool has_values() const {
    return status == lp_status::optimal || status == lp_status::feasible;
  }
};

/// Solves `p` with lp_solve 5.5.
/// Errors: ec::invalid_argument: a factor is not finite, there is no such
///         column as a term names, a lower bound above its upper one; the text
///         names it.
///         ec::internal: the solver gave up for reasons of numbers.
/// Threads: any; solves of one process go one after another, because the
///         library keeps scratch in static variables.
core::result<lp_solution> solve(const linear_program& p,
                                const lp_limits& limits = {},
                                const lp_basis* start = nullptr);

/// Returns what `solve` refuses in `p`, if anything.
core::result<void> validate(const linear_program& p);

/// Returns the value of the objective at `values`.
double objective_at(const linear_program& p, const std::vector<double>& values);

/// Returns by how much `values` miss the worst constraint, bound or wholeness:
/// 0 where they hold all.
double worst_violation(const linear_program& p,
                       const std::vector<double>& values);

} // namespace atelier::planning
