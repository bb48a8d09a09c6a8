// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/gpu/captions/palette.hpp>

#include <array>
#include <vector>

namespace atelier::gpu::detail {

/// Images are checked at this many pixels along each side, one for each unit of
/// scenes.
inline constexpr int check_side = 128;
inline constexpr size_t check_pixels = size_t{check_side} * check_side;

/// Three planes of check_side x check_side pixels.
using planes = std::array<std::vector<float>, 3>;

constexpr size_t pixel_at(int x, int y) {
  return static_cast<size_t>(y) * check_side + static_cast<size_t>(x);
}

/// Returns the image's red, green and blue, 0 to 255, at check_side x
/// check_side pixels.
planes rgb_planes(const image::pixel_view& from);

/// Estimates the standard deviation of the noise in a plane.
float noise_of(const std::vector<float>& plane);

/// Smooths a plane with the binomial weights 1 2 1 along each axis.
void smooth(std::vector<float>& plane);

/// Converts a colour with fractional channels, 0 to 255, to L*a*b*, within 0.1.
lab fast_lab(float r, float g, float b);

} // namespace atelier::gpu::detail
