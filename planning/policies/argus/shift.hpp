// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/solver/transport.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::argus {

/// A shift map (PASM): at [c][v] the probability that a prompt of class c runs
/// on level v. Every row sums to 1.
using shift_map = table;

/// Moves the histogram of classes to the share of load that each level serves,
/// by the paper's rule: starting with the fastest level, a surplus goes to the
/// next slower level, and a deficit is filled from the nearest slower ones.
/// Both sides are scaled to a sum of 1 first. A class without requests (h = 0)
/// runs on its own level if that has load, otherwise on the nearest slower one,
/// otherwise on the nearest faster one.
/// The published listing shifts until a level is full without ever updating the
/// level that gave; this function keeps the mass by class, so that the sums of
/// columns are exactly the load's shares.
/// Source: Argus, section 4.3, Algorithm 1.
shift_map align(std::span<const double> histogram,
                std::span<const double> load);

/// Moves the histogram with the least degradation: an exact transport over
/// D[c][v]. Among maps that degrade equally, it chooses the one that moves
/// prompts least far, by the squares of the distances in levels. It never
/// degrades more than `align`, whatever D is; `align` is optimal only if D is
/// convex.
/// Source: the improvement of Eq. 2, whose proof needs a convex D.
shift_map align_exactly(std::span<const double> histogram,
                        std::span<const double> load, const table& degradation);

/// Draws a level from a row of probabilities; if rounding leaves a gap, the
/// last level that is not 0. Takes one uniform number.
uint32_t draw_level(std::span<const double> row, core::philox& random);

} // namespace atelier::planning::argus
