// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/training/scene.hpp>

#include <optional>
#include <vector>

namespace atelier::gpu {

/// An object found in a picture.
/// Units: as scene_point.
struct seen_object {
  /// Empty where no shape fits well enough.
  std::optional<object_shape> shape;
  /// Empty where it is none of the colours.
  std::optional<object_colour> colour;
  object_size size = object_size::small;
  object_texture texture = object_texture::plain;
  grid_place place = grid_place::centre;
  scene_point centre;
  float radius = 0;
  /// How much of the object and of the best shape is common to both, of what
  /// either covers: 0 to 1.
  float shape_score = 0;
  /// Distance of its pixels from the best colour in CIE L*a*b*.
  float colour_distance = 0;
};

/// What a picture shows.
struct seen_picture {
  /// Empty where it is none of the backgrounds.
  std::optional<scene_background> background;
  /// Everything that stands out from the background and is no speck, also what
  /// has no known shape or colour; largest first.
  std::vector<seen_object> objects;
};

/// Find out what a picture of a scene shows, from its pixels alone and without
/// anything learned: the background is a plane for each channel, objects are
/// connected areas that differ from it, their shapes those whose signed
/// distances overlap best, their textures waves at the patterns' period.
/// Pictures of other extents are brought to 128 x 128 pixels first.
/// Threads: any.
/// @pre the picture is RGB8, of at least one pixel
seen_picture check_picture(const image::pixel_view& rgb);

} // namespace atelier::gpu
