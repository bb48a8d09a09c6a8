// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/training/scene.hpp>

#include <optional>
#include <vector>

namespace atelier::gpu {

/// An object found in an image.
/// Units: those of scene_point.
struct seen_object {
  /// Empty if no shape fits well enough.
  std::optional<object_shape> shape;
  /// Empty if no colour is near enough.
  std::optional<object_colour> colour;
  object_size size = object_size::small;
  object_texture texture = object_texture::plain;
  grid_place place = grid_place::centre;
  scene_point centre;
  float radius = 0;
  /// Intersection of the object and the best shape divided by their union: 0
  /// to 1.
  float shape_score = 0;
  /// Mean distance of its pixels from the best colour in CIE L*a*b*.
  float colour_distance = 0;
};

/// The content of an image.
struct seen_image {
  /// Empty if no background is near enough.
  std::optional<scene_background> background;
  /// Everything that contrasts with the background and is larger than a speck,
  /// including objects without a known shape or colour; largest first.
  std::vector<seen_object> objects;
};

/// Finds the content of an image of a scene from only its pixels, without any
/// learned network. The background is a plane for each channel, and objects are
/// connected areas that differ from it. An object's shape is the one whose
/// signed distances overlap it best, and its texture is found as waves at the
/// patterns' period. Images of other sizes are first resampled to 128 x 128
/// pixels.
/// Threads: any.
/// @pre the image is RGB8 and has at least one pixel
seen_image check_image(const image::pixel_view& rgb);

} // namespace atelier::gpu
