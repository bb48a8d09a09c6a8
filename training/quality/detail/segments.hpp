// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_picture.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu::detail {

/// Pixels that belong together, by their numbers in a picture of check_side.
using segment = std::vector<uint16_t>;

/// Return the areas of touching pixels, along diagonals too, among `of` whose
/// `difference` is above `threshold`; none smaller than `least` pixels.
std::vector<segment> connected(std::span<const uint16_t> of,
                               const std::vector<float>& difference,
                               float threshold, size_t least);

/// Give each pixel of `all` to that of `seeds` which is reached first through
/// `all`; pixels that none reaches are left out.
std::vector<segment> grown(const std::vector<segment>& seeds,
                           std::span<const uint16_t> all);

/// Return the pixels of a segment that are at least `depth` steps inside its
/// outline, or, where it is thin, half as deep as its deepest.
segment core_of(const segment& of, int depth);

} // namespace atelier::gpu::detail
