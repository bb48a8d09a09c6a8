// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/solver/conflict.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::planning {

namespace {

using core::ec;

// A stretch below this is noise of the solver's arithmetic.
constexpr double noise = 1e-7;

struct stretched {
  bool feasible = false;
  /// By constraint of the program.
  std::vector<double> by_row;
  double total = 0;
};

core::result<lp_solution> solved(const linear_program& p,
                                 const lp_limits& limits) {
  auto out = solve(p, limits);
  if (out
      && (out->status == lp_status::stopped
          || out->status == lp_status::feasible))
    return core::fail(ec::unavailable,
                      "no explanation within {} calls of the solver",
                      out->effort);
  return out;
}

// Solves the program with constraints that may be stretched at a price of one
// per unit, except those in `hard`.
core::result<stretched> stretch(const linear_program& p,
                                const std::vector<char>& hard,
                                const lp_limits& limits) {
  linear_program elastic = p;
  elastic.maximise = false;
  for (lp_column& c : elastic.columns)
    c.gain = 0;
  std::vector<std::pair<size_t, lp_column_id>> gives;
  for (size_t i = 0; i < p.rows.size(); ++i) {
    if (hard[i] != 0)
      continue;
    const auto give = [&](double factor) {
      const auto column = elastic.add(lp_column{"give", 1});
      elastic.rows[i].terms.push_back({column, factor});
      gives.emplace_back(i, column);
    };
    if (p.rows[i].is != lp_relation::at_least)
      give(-1);
    if (p.rows[i].is != lp_relation::at_most)
      give(1);
  }
  auto found = solved(elastic, limits);
  if (!found)
    return std::move(found).why();
  stretched out;
  out.feasible = found->has_values();
  out.by_row.assign(p.rows.size(), 0.0);
  if (out.feasible)
    for (const auto& [row, column] : gives) {
      out.by_row[row] += found->values[column.value];
      out.total += found->values[column.value];
    }
  return out;
}

core::result<bool> has_solution(const linear_program& p,
                                const std::vector<char>& kept,
                                const lp_limits& limits) {
  linear_program part;
  part.columns = p.columns;
  for (lp_column& c : part.columns)
    c.gain = 0;
  for (size_t i = 0; i < p.rows.size(); ++i)
    if (kept[i] != 0)
      part.rows.push_back(p.rows[i]);
  auto found = solved(part, limits);
  if (!found)
    return std::move(found).why();
  return found->has_values();
}

} // namespace

core::result<lp_conflict> explain_infeasible(const linear_program& p,
                                             const lp_limits& limits) {
  lp_conflict out;
  std::vector<char> suspects(p.rows.size(), 0);
  for (;;) {
    auto round = stretch(p, suspects, limits);
    if (!round)
      return std::move(round).why();
    if (!round->feasible)
      break;
    if (out.shortfall == 0)
      out.shortfall = round->total;
    bool gave = false;
    for (size_t i = 0; i < p.rows.size(); ++i)
      if (round->by_row[i] > noise) {
        suspects[i] = 1;
        gave = true;
      }
    if (!gave)
      return lp_conflict{};
  }
  for (char& suspect : suspects) {
    if (suspect == 0)
      continue;
    suspect = 0;
    auto without = has_solution(p, suspects, limits);
    if (!without)
      return std::move(without).why();
    if (*without)
      suspect = 1;
  }
  for (size_t i = 0; i < suspects.size(); ++i)
    if (suspects[i] != 0)
      out.rows.emplace_back(static_cast<uint32_t>(i));
  return out;
}

std::string to_text(const linear_program& p, const lp_conflict& why) {
  if (why.rows.empty())
    return "nothing contradicts";
  std::vector<std::string> names;
  for (const lp_row_id row : why.rows)
    names.push_back(fmt::format("'{}'", p.rows[row.value].name));
  return fmt::format("{} cannot hold{}; {:.6g} is missing at least",
                     fmt::join(names, ", "),
                     names.size() > 1 ? " together" : "", why.shortfall);
}

} // namespace atelier::planning
