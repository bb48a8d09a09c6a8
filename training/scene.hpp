// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace atelier::gpu {

enum class object_shape : uint8_t {
  circle,
  square,
  triangle,
  star,
  ring,
  cross,
  diamond,
  heart,
  crescent,
  hexagon,
};
inline constexpr size_t shape_count = 10;

enum class object_colour : uint8_t {
  red,
  orange,
  yellow,
  green,
  blue,
  purple,
  white,
  black,
};
inline constexpr size_t colour_count = 8;

enum class object_size : uint8_t { small, large };
inline constexpr size_t size_count = 2;

enum class object_texture : uint8_t { plain, striped, dotted };
inline constexpr size_t texture_count = 3;

/// A cell of the 3 x 3 grid, row by row from the top left.
enum class grid_place : uint8_t {
  top_left,
  top,
  top_right,
  left,
  centre,
  right,
  bottom_left,
  bottom,
  bottom_right,
};
inline constexpr size_t place_count = 9;

enum class background_colour : uint8_t {
  white,
  black,
  grey,
  pink,
  brown,
  navy,
  teal,
};
inline constexpr size_t background_colour_count = 7;

/// How a background changes from its first colour to its second.
enum class background_grade : uint8_t {
  plain,
  /// From top to bottom.
  vertical,
  /// From left to right.
  horizontal,
};

/// Where one object lies from another, or between two others.
enum class relation : uint8_t { above, below, left_of, right_of, between };
inline constexpr size_t relation_count = 5;

/// Return the word that stands in captions.
std::string_view to_string(object_shape x);
std::string_view to_string(object_colour x);
std::string_view to_string(object_size x);
std::string_view to_string(object_texture x);
std::string_view to_string(grid_place x);
std::string_view to_string(background_colour x);
std::string_view to_string(background_grade x);
std::string_view to_string(relation x);

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

inline constexpr size_t most_objects = 3;

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
