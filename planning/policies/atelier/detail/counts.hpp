// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/atelier/solve.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::unified {

/// Returns how busy each pool may be with so many devices, or parts of them.
std::vector<double> busy_with(const problem& asked,
                              std::span<const double> devices);

/// Returns the best flows for whole devices by pool. `hints`: columns to begin
/// with.
core::result<decision> spread_over(const problem& asked,
                                   std::span<const uint32_t> count,
                                   const solve_options& with,
                                   std::span<const uint32_t> hints);

/// Returns the columns that take anything.
std::vector<uint32_t> used_columns(const decision& d);

/// Adds the effort of one decision to another's.
void count_in(decision& into, const decision& of);

/// Looks at up to `looks` other counts, each of which moves the devices of one
/// pool to another, all, half or one of them, and goes on from what is better,
/// until nothing near is. How busy a pool may be depends on how many devices it
/// has, so that what is best in parts can be far from it in whole devices.
void search_counts(const problem& asked, const solve_options& with,
                   uint32_t looks, decision& best);

} // namespace atelier::planning::unified
