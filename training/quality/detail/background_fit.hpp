// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_picture.hpp>
#include <atelier/training/scene.hpp>

#include <array>
#include <optional>

namespace atelier::gpu::detail {

/// The plane at + x * dx + y * dy, with x and y from the picture's middle.
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

/// Fit the background: to the picture's rim at first, then to all pixels near
/// what the rim says.
background_planes fit_background(const planes& rgb);

/// Return the planes' colours along row `y`.
std::array<lab, check_side> background_row(const background_planes& of, int y);

/// Return the background whose colours at the corners are nearest, if they are
/// near.
std::optional<scene_background> name_background(const background_planes& of);

} // namespace atelier::gpu::detail
