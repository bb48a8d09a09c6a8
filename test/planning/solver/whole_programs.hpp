// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <optional>
#include <string>
#include <vector>

namespace atelier::test {

/// Returns a program of whole columns with up to four values and small whole
/// factors, so that every solution can be enumerated.
inline planning::linear_program random_program(core::philox& random) {
  planning::linear_program p;
  p.maximise = random.below(2) == 0;
  const auto whole = [&](int least, int most) {
    const int values = most - least + 1;
    return least
         + static_cast<double>(random.below(static_cast<uint64_t>(values)));
  };
  const size_t columns = 1 + random.below(5);
  for (size_t i = 0; i < columns; ++i) {
    const double least = whole(-2, 1);
    p.add(planning::lp_column{"c" + std::to_string(i), whole(-9, 9), least,
                              least + whole(0, 3), true});
  }
  const size_t rows = random.below(5);
  for (size_t i = 0; i < rows; ++i) {
    planning::lp_row r;
    r.name = "r" + std::to_string(i);
    for (uint32_t c = 0; c < columns; ++c)
      if (random.below(3) != 0)
        r.terms.push_back({planning::lp_column_id{c}, whole(-5, 5)});
    r.is = static_cast<planning::lp_relation>(random.below(3));
    r.bound = whole(-8, 8);
    p.add(std::move(r));
  }
  return p;
}

/// Returns the best objective of `p` by enumeration; empty if no solution is
/// feasible.
inline std::optional<double> counted_out(const planning::linear_program& p) {
  std::vector<double> at;
  for (const planning::lp_column& c : p.columns)
    at.push_back(c.least);
  std::optional<double> best;
  for (;;) {
    if (planning::worst_violation(p, at) < 1e-9) {
      const double value = planning::objective_at(p, at);
      if (!best || (p.maximise ? value > *best : value < *best))
        best = value;
    }
    size_t i = 0;
    while (i < at.size() && at[i] + 1 > p.columns[i].most) {
      at[i] = p.columns[i].least;
      ++i;
    }
    if (i == at.size())
      return best;
    at[i] += 1;
  }
}

} // namespace atelier::test
