// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/solver/branching.hpp>
#include <atelier/planning/solver/detail/lp_library.hpp>
#include <atelier/planning/solver/linear_program.hpp>
#include <atelier/planning/solver/tolerance.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning {

namespace {

using detail::ask_library;
using detail::lp_manner;

// Sets each column to its better bound: lp_solve leaves such programs unsolved.
lp_solution without_rows(const linear_program& p) {
  lp_solution out;
  out.status = lp_status::optimal;
  for (const lp_column& c : p.columns) {
    const bool up = c.gain != 0 && (c.gain > 0) == p.maximise;
    double least = c.least;
    double most = c.most;
    if (c.whole) {
      least = std::ceil(least);
      most = std::floor(most);
    }
    if (least > most) {
      out.status = lp_status::infeasible;
      continue;
    }
    double at = up ? most : least;
    if (c.gain == 0 && std::isinf(at))
      at = std::isinf(most) ? 0 : most;
    if (std::isinf(at) && out.status == lp_status::optimal)
      out.status = lp_status::unbounded;
    out.values.push_back(at);
    out.reduced.push_back(c.gain);
    out.basis.columns.push_back(up ? lp_place::at_high : lp_place::at_low);
  }
  if (out.status == lp_status::optimal)
    out.objective = objective_at(p, out.values);
  else
    out = lp_solution{out.status, 0, {}, {}, {}, {}, 0};
  return out;
}

bool has_whole(const linear_program& p) {
  return std::any_of(p.columns.begin(), p.columns.end(),
                     [](const lp_column& c) { return c.whole; });
}

// A search that takes much longer than the library's own is stopped: it is
// meant for small programs, in which an error weighs most.
uint64_t effort_of_search(const lp_limits& limits, uint64_t spent) {
  const uint64_t enough = 4 * spent + 5'000;
  if (limits.effort == 0)
    return enough;
  return std::min(enough, limits.effort > spent ? limits.effort - spent : 0);
}

bool improves(const linear_program& p, const lp_solution& x,
              const lp_solution& than) {
  return x.has_values() && worst_violation(p, x.values) <= allowed_violation
      && (!than.has_values() || is_better(p, x.objective, than.objective));
}

// Returns `x`, whose whole columns are right, with its duals and its basis.
lp_solution with_duals(const linear_program& p, const lp_limits& limits,
                       lp_solution x) {
  linear_program fixed = p;
  for (size_t i = 0; i < p.columns.size(); ++i) {
    lp_column& c = fixed.columns[i];
    if (c.whole)
      c.least = c.most = x.values[i];
    c.whole = false;
  }
  auto found = ask_library(fixed, limits, nullptr, lp_manner::usual);
  if (found && found->has_values()
      && !is_better(p, x.objective, found->objective))
    return std::move(*found);
  x.duals.assign(p.rows.size(), 0.0);
  x.reduced.assign(p.columns.size(), 0.0);
  return x;
}

// Checks the library's result for a mixed-integer program a second time.
core::result<lp_solution> checked(const linear_program& p,
                                  const lp_limits& limits, lp_solution found) {
  lp_limits left = limits;
  left.effort = effort_of_search(limits, found.effort);
  if (left.effort == 0)
    return found;
  const auto known =
    found.has_values() ? std::optional{found.objective} : std::nullopt;
  auto search = search_whole(p, known, left);
  const uint64_t effort = found.effort + search.effort;
  if (search.better)
    found = with_duals(p, limits, std::move(*search.better));
  found.effort = effort;
  if (search.complete)
    return found;
  // About one in ten thousand programs ends elsewhere because of its scaling.
  const auto again = ask_library(p, limits, nullptr, lp_manner::plain);
  if (!again)
    return found;
  if (improves(p, *again, found))
    found = *again;
  found.effort = effort + again->effort;
  return found;
}

// Solves a program again that the library reported as infeasible.
core::result<lp_solution> unless_feasible(const linear_program& p,
                                          const lp_limits& limits,
                                          lp_solution infeasible) {
  auto again = ask_library(p, limits, nullptr, lp_manner::plain);
  if (again && improves(p, *again, infeasible))
    return again;
  return infeasible;
}

// A program is "unbounded" only if it has a solution at all.
core::result<lp_solution> unless_infeasible(const linear_program& p,
                                            const lp_limits& limits,
                                            lp_solution unbounded) {
  linear_program any = p;
  for (lp_column& c : any.columns)
    c.gain = 0;
  const auto found = ask_library(any, limits, nullptr, lp_manner::usual);
  if (found && found->status == lp_status::infeasible)
    unbounded.status = lp_status::infeasible;
  return unbounded;
}

} // namespace

core::result<lp_solution> solve(const linear_program& p,
                                const lp_limits& limits,
                                const lp_basis* start) {
  if (auto sound = validate(p); !sound)
    return std::move(sound).why();
  if (p.rows.empty())
    return without_rows(p);
  const std::scoped_lock lock{detail::lp_library_lock()};
  auto found = ask_library(p, limits, start, lp_manner::usual);
  if (!found)
    return found;
  switch (found->status) {
    case lp_status::unbounded:
      return unless_infeasible(p, limits, std::move(*found));
    case lp_status::infeasible:
      return has_whole(p) ? checked(p, limits, std::move(*found))
                          : unless_feasible(p, limits, std::move(*found));
    case lp_status::optimal:
      return has_whole(p) ? checked(p, limits, std::move(*found))
                          : std::move(found);
    case lp_status::feasible:
    case lp_status::stopped:
      break;
  }
  return found;
}

} // namespace atelier::planning
