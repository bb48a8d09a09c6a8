// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_image.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu::detail {

/// Pixels that belong together, as indices into an image of check_side x
/// check_side pixels.
using segment = std::vector<uint16_t>;

/// Returns the areas of adjacent pixels, diagonals included, among the pixels
/// of `of` whose `difference` is above `threshold`. Omits areas of fewer than
/// `least` pixels.
std::vector<segment> connected(std::span<const uint16_t> of,
                               const std::vector<float>& difference,
                               float threshold, size_t least);

/// Assigns each pixel of `all` to the seed that reaches it first through `all`.
/// Omits pixels that no seed reaches.
std::vector<segment> grown(const std::vector<segment>& seeds,
                           std::span<const uint16_t> all);

/// Returns the pixels of a segment that are at least `depth` steps inside its
/// outline, or half as deep as its deepest pixel if the segment is thin.
segment core_of(const segment& of, int depth);

} // namespace atelier::gpu::detail
