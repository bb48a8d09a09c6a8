// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/scene_terms.hpp>

#include <cstdlib>

namespace atelier::gpu {

std::string_view to_string(object_shape x) {
  switch (x) {
    case object_shape::circle:
      return "circle";
    case object_shape::square:
      return "square";
    case object_shape::triangle:
      return "triangle";
    case object_shape::star:
      return "star";
    case object_shape::ring:
      return "ring";
    case object_shape::cross:
      return "cross";
    case object_shape::diamond:
      return "diamond";
    case object_shape::heart:
      return "heart";
    case object_shape::crescent:
      return "crescent";
    case object_shape::hexagon:
      return "hexagon";
  }
  return "unknown";
}

std::string_view to_string(object_colour x) {
  switch (x) {
    case object_colour::red:
      return "red";
    case object_colour::orange:
      return "orange";
    case object_colour::yellow:
      return "yellow";
    case object_colour::green:
      return "green";
    case object_colour::blue:
      return "blue";
    case object_colour::purple:
      return "purple";
    case object_colour::white:
      return "white";
    case object_colour::black:
      return "black";
  }
  return "unknown";
}

std::string_view to_string(object_size x) {
  switch (x) {
    case object_size::small:
      return "small";
    case object_size::large:
      return "large";
  }
  return "unknown";
}

std::string_view to_string(object_texture x) {
  switch (x) {
    case object_texture::plain:
      return "plain";
    case object_texture::striped:
      return "striped";
    case object_texture::dotted:
      return "dotted";
  }
  return "unknown";
}

bool share_a_side(grid_place a, grid_place b) {
  const auto x = static_cast<int>(a);
  const auto y = static_cast<int>(b);
  return std::abs(x % 3 - y % 3) + std::abs(x / 3 - y / 3) == 1;
}

std::string_view to_string(grid_place x) {
  switch (x) {
    case grid_place::top_left:
      return "top left";
    case grid_place::top:
      return "top";
    case grid_place::top_right:
      return "top right";
    case grid_place::left:
      return "left";
    case grid_place::centre:
      return "center";
    case grid_place::right:
      return "right";
    case grid_place::bottom_left:
      return "bottom left";
    case grid_place::bottom:
      return "bottom";
    case grid_place::bottom_right:
      return "bottom right";
  }
  return "unknown";
}

std::string_view to_string(background_colour x) {
  switch (x) {
    case background_colour::white:
      return "white";
    case background_colour::black:
      return "black";
    case background_colour::grey:
      return "gray";
    case background_colour::pink:
      return "pink";
    case background_colour::brown:
      return "brown";
    case background_colour::navy:
      return "navy";
    case background_colour::teal:
      return "teal";
  }
  return "unknown";
}

std::string_view to_string(background_grade x) {
  switch (x) {
    case background_grade::plain:
      return "plain";
    case background_grade::vertical:
      return "vertical";
    case background_grade::horizontal:
      return "horizontal";
  }
  return "unknown";
}

std::string_view to_string(relation x) {
  switch (x) {
    case relation::above:
      return "above";
    case relation::below:
      return "below";
    case relation::left_of:
      return "left of";
    case relation::right_of:
      return "right of";
    case relation::between:
      return "between";
  }
  return "unknown";
}

} // namespace atelier::gpu
