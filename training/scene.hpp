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

/// A point of a picture.
/// Units: 128ths of the picture's side, from the top left corner.
struct scene_point {
  float x = 0;
  float y = 0;

  friend bool operator==(const scene_point&, const scene_point&) = default;
};

/// Units of all that follows: as scene_point.
inline constexpr float scene_side = 128;

/// Centres of the grid's columns, and of its rows.
inline constexpr std::array<float, 3> grid_centres{30, 64, 98};

/// Objects lie at most this far from their place's centre, along x and along y.
inline constexpr float place_jitter = 3;

struct radius_range {
  float low = 0;
  float high = 0;
};

/// Return the radii of the circle round an object of that size.
constexpr radius_range radii(object_size size) {
  return size == object_size::small ? radius_range{16, 18}
                                    : radius_range{25, 29};
}

/// A radius from here on is seen as large.
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

/// Invariant: `from` equals `to` exactly where the grade is plain.
struct scene_background {
  background_colour from = background_colour::white;
  background_colour to = background_colour::white;
  background_grade grade = background_grade::plain;

  friend bool operator==(const scene_background&,
                         const scene_background&) = default;
};

/// What a picture shows: the truth that captions speak of.
struct scene {
  scene_background background;
  /// One to three; none covers another.
  std::vector<scene_object> objects;

  friend bool operator==(const scene&, const scene&) = default;
};

/// Return the centre of a cell of the grid.
scene_point centre_of(grid_place place);

/// Return the cell of the grid whose centre is nearest.
grid_place place_at(scene_point at);

/// How sure a relation must be.
enum class relation_rule : uint8_t {
  /// For telling: nobody would say otherwise.
  clear,
  /// For judging pictures: it can be said.
  tolerant,
};

/// Tell whether `what` holds of `subject` and `first` (and, for
/// relation::between alone, `second`).
bool holds(relation what, scene_point subject, scene_point first,
           scene_point second, relation_rule by);

/// Tell whether the combination is kept out of training, so that a network's
/// pictures of it show what it has understood and not what it has seen: for
/// every shape and colour one place of the nine, taken by a hash.
bool held_out(object_shape shape, object_colour colour, grid_place place);

/// Return what is wrong with `x`, or nothing: the number of objects, an object
/// outside the picture, at no place or of another radius than its size's, two
/// that touch or look the same, one that stands out too little.
std::optional<std::string_view> fault_of(const scene& x);

} // namespace atelier::gpu
