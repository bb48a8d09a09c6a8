// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/atelier/programme.hpp>

#include <cstdint>
#include <span>

namespace atelier::planning::unified {

struct solve_options {
  /// Rounds of looking for better columns; 0: all columns from the start.
  uint32_t rounds = 10;
  /// Looking ends this near to the bound, relative to the value.
  double gap = 1e-3;
  /// Passes over how busy pools may be, which depends on their devices.
  uint32_t passes = 3;
  /// Other counts that are looked at after rounding, with few devices and with
  /// more than `exact_devices`.
  uint32_t looks = 200;
  uint32_t looks_of_many = 16;
  /// Whole numbers are found by branch and bound up to so many devices, if
  /// there are at most so many columns.
  uint32_t exact_devices = 64;
  uint32_t exact_columns = 2000;
  /// Calls back of one programme; of a whole one.
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
/// by price; whole devices come from the parts by rounding down, filling up by
/// worth, and moving those of one pool to another; up to `exact_devices` also
/// from branch and bound. The same input gives the same decision, whatever the
/// machine. Errors: ec::invalid_argument: an index or number of `asked` that is
/// none;
///         the text names it. ec::unavailable, ec::internal: the solver gave
///         up.
core::result<decision> solve(const problem& asked,
                             const solve_options& with = {});

/// The same with the devices of each pool given: for a death or a jump, when
/// nothing is to be loaded.
core::result<decision> spread(const problem& asked,
                              std::span<const uint32_t> count,
                              const solve_options& with = {});

/// Returns what `solve` refuses in `asked`, if anything.
core::result<void> validate(const problem& asked);

} // namespace atelier::planning::unified
