// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_image.hpp>
#include <atelier/training/scene.hpp>

#include <array>
#include <optional>

namespace atelier::gpu::detail {

/// The plane at + x * dx + y * dy, with x and y measured from the image's
/// centre.
struct colour_plane {
  float at = 0;
  float dx = 0;
  float dy = 0;

  float value(float x, float y) const {
    return at + x * dx + y * dy;
  }
};

/// One plane each for red, green and blue.
using background_planes = std::array<colour_plane, 3>;

/// Fits the background: first to the image's rim, then three times to the
/// pixels that are near the planes so far, on every second row and column.
background_planes fit_background(const planes& rgb);

/// Returns the planes' colours along row `y`.
std::array<lab, check_side> background_row(const background_planes& of, int y);

/// Returns the background whose colours at the corners are nearest, or nullopt
/// if even those are not near.
std::optional<scene_background> name_background(const background_planes& of);

} // namespace atelier::gpu::detail
