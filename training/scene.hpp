// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/scene_terms.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A point of an image.
/// Units: 128ths of the image's side, from the top left corner.
struct scene_point {
  float x = 0;
  float y = 0;

  friend bool operator==(const scene_point&, const scene_point&) = default;
};

/// The image's side. Everything below has the units of scene_point.
inline constexpr float scene_side = 128;

/// Centres of the grid's columns and of its rows.
inline constexpr std::array<float, 3> grid_centres{30, 64, 98};

/// Largest distance of an object from its place's centre, along x and along y.
inline constexpr float place_jitter = 3;

struct radius_range {
  float low = 0;
  float high = 0;
};

/// Returns the radii of the circle around an object of that size.
constexpr radius_range radii(object_size size) {
  return size == object_size::small ? radius_range{16, 18}
                                    : radius_range{25, 29};
}

/// The smallest radius that is seen as large.
inline constexpr float large_from = 21.5f;

struct scene_object {
  object_shape shape = object_shape::circle;
  object_colour colour = object_colour::red;
  object_size size = object_size::small;
  object_texture texture = object_texture::plain;
  scene_point centre{64, 64};
  float radius = 17;

  friend bool operator==(const scene_object&, const scene_object&) = default;
};

/// Invariant: `from` equals `to` if and only if the grade is plain.
struct scene_background {
  background_colour from = background_colour::white;
  background_colour to = background_colour::white;
  background_grade grade = background_grade::plain;

  friend bool operator==(const scene_background&,
                         const scene_background&) = default;
};

/// The content of an image: the truth that captions describe.
struct scene {
  scene_background background;
  /// One to three objects; none covers another.
  std::vector<scene_object> objects;

  friend bool operator==(const scene&, const scene&) = default;
};

/// Returns the centre of a cell of the grid.
scene_point centre_of(grid_place place);

/// Returns the cell of the grid whose centre is nearest.
grid_place place_at(scene_point at);

/// How certain a relation must be.
enum class relation_rule : uint8_t {
  /// For captions: the relation is beyond dispute.
  clear,
  /// For judging images: the relation can be said to hold.
  tolerant,
};

/// Returns whether `what` holds of `subject` and `first` (and, only for
/// relation::between, `second`).
bool holds(relation what, scene_point subject, scene_point first,
           scene_point second, relation_rule by);

/// Returns whether the combination is kept out of training, so that a network's
/// images of it show what the network has understood rather than what it has
/// seen. A hash selects one of the nine places for every shape and colour.
bool held_out(object_shape shape, object_colour colour, grid_place place);

/// Returns what is wrong with `x`, or nothing. Faults are the number of
/// objects, an object outside the image, at no place or of a radius that its
/// size does not have, two objects that touch or look the same, and an object
/// that stands out too little.
std::optional<std::string_view> fault_of(const scene& x);

} // namespace atelier::gpu
