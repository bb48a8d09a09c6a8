// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/atelier/programme.hpp>

#include <cstdint>
#include <span>

namespace atelier::planning::unified {

struct solve_options {
  /// Rounds of search for better columns; 0: all columns from the start.
  uint32_t rounds = 10;
  /// The search for columns ends this near to the bound, relative to the value.
  double gap = 1e-3;
  /// Passes over the busy shares of pools, which depend on their devices.
  uint32_t passes = 3;
  /// Other whole counts that are tried after rounding, with up to
  /// `exact_devices` devices and with more.
  uint32_t looks = 400;
  uint32_t looks_of_many = 16;
  /// Most devices and most columns for branch and bound over whole counts.
  uint32_t exact_devices = 64;
  uint32_t exact_columns = 2000;
  /// Most callbacks of a linear program, and of one with whole counts.
  uint64_t effort = 200'000;
  uint64_t exact_effort = 5'000;
};

/// Returns how many devices each pool gets and how much of each class each
/// column takes: first the least refusals, of those the least shortfall below
/// floors and of fresh answers, of those the most quality less the price of
/// loads:
///   sum of x over a class + refused = its rate
///   sum of quality x + shortfall >= floor (rate - refused)
///   sum of work <= busy (devices - loads * load_seconds / period)
///   loads >= devices of a hosting - those that have it now
///   sum of devices of a kind <= alive
/// There is always a solution: everything may be refused. Columns are generated
/// by price. Whole counts come from the parts by rounding down and filling up
/// by worth, up to `exact_devices` also from branch and bound; then a search
/// moves devices between pools (detail/counts.hpp). It can miss the best
/// counts. The same input gives the same decision on every machine. Errors:
/// ec::invalid_argument: an index or number of `asked` is out of range;
///         the text names it. ec::unavailable, ec::internal: the solver gave
///         up.
core::result<decision> solve(const problem& asked,
                             const solve_options& with = {});

/// Solves the same with given devices for each pool: after a death or a jump of
/// the load, when nothing is to be loaded.
core::result<decision> spread(const problem& asked,
                              std::span<const uint32_t> count,
                              const solve_options& with = {});

/// Returns an error if `solve` would refuse `asked`.
core::result<void> validate(const problem& asked);

} // namespace atelier::planning::unified
