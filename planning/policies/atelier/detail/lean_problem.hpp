// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/atelier/programme.hpp>

#include <cstdint>
#include <vector>

namespace atelier::planning::unified {

/// A problem without the columns that no decision needs. Its other parts, pools
/// included, keep their indices.
struct lean_problem {
  problem asked;
  /// By column: its index in the whole problem.
  std::vector<uint32_t> origin;
};

/// Leaves out the pools that another pool of the same hosting replaces: it
/// answers all that they answer, with no more work for each answer, and its
/// devices may be at least as busy. As more devices of one pool may be busier,
/// no whole counts with such a pool are better than those with its devices in
/// the other one.
lean_problem without_replaceable(const problem& asked);

/// Returns a decision about the lean problem as one about the whole problem,
/// which has `columns` columns.
decision widened(const lean_problem& from, decision made, size_t columns);

} // namespace atelier::planning::unified
