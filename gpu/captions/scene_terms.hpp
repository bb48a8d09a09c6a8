// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atelier::gpu {

/// The elements of scenes, as captions name them.
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

/// Returns whether two cells lie side by side, above or below each other. No
/// scene of training has objects in such places.
/// Threads: any.
bool share_a_side(grid_place a, grid_place b);

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

/// The position of one object relative to one or two others.
enum class relation : uint8_t { above, below, left_of, right_of, between };
inline constexpr size_t relation_count = 5;

/// The maximum number of objects in an image.
inline constexpr size_t most_objects = 3;

/// Returns the word used in captions.
std::string_view to_string(object_shape x);
std::string_view to_string(object_colour x);
std::string_view to_string(object_size x);
std::string_view to_string(object_texture x);
std::string_view to_string(grid_place x);
std::string_view to_string(background_colour x);
std::string_view to_string(background_grade x);
std::string_view to_string(relation x);

} // namespace atelier::gpu
