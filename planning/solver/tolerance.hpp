// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/solver/linear_program.hpp>

#include <cmath>

namespace atelier::planning {

/// The violation of a constraint that counts as rounding.
inline constexpr double allowed_violation = 1e-7;

/// Returns whether `x` is a better objective of `p` than `than`, by more than
/// rounding.
inline bool is_better(const linear_program& p, double x, double than) {
  return (x - than) * (p.maximise ? 1 : -1)
       > allowed_violation * (1 + std::abs(than));
}

/// Rounds the whole columns of `x`, and recomputes its objective.
inline void round_whole(const linear_program& p, lp_solution& x) {
  for (size_t i = 0; i < x.values.size(); ++i) {
    if (p.columns[i].whole)
      x.values[i] = std::round(x.values[i]);
    // Adding 0 turns -0 into 0, so that readers never see it.
    x.values[i] += 0.0;
  }
  x.objective = objective_at(p, x.values);
}

} // namespace atelier::planning
