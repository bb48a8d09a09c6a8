// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/atelier/solve.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::unified {

/// Returns the busy share that each pool may reach with these numbers of
/// devices, which need not be whole.
std::vector<double> busy_with(const problem& asked,
                              std::span<const double> devices);

/// Returns the best flows for these whole numbers of devices by pool. `hints`:
/// columns to begin with.
core::result<decision> spread_over(const problem& asked,
                                   std::span<const uint32_t> count,
                                   const solve_options& with,
                                   std::span<const uint32_t> hints);

/// By pool: whether a column has work for it.
std::vector<char> pools_that_answer(const problem& asked);

/// Returns the columns that take requests.
std::vector<uint32_t> used_columns(const decision& d);

/// Adds the effort of one decision to that of another.
void count_in(decision& into, const decision& of);

/// Tries up to `looks` other whole counts, and continues from each that is
/// better, or equal with more capacity in the same hostings, until none is. A
/// move takes devices from one pool to another: all of them, half, a quarter
/// and so on, whichever is best; moves to `likely` pools (by pool; 0: others)
/// come first. If no move helps, a pool is replaced by another with more or
/// fewer devices. The busy share of a pool depends on its number of devices, so
/// the best whole counts can be far from the best parts.
void search_counts(const problem& asked, const solve_options& with,
                   uint32_t looks, std::span<const char> likely,
                   decision& best);

} // namespace atelier::planning::unified
