// SPDX-License-Identifier: Apache-2.0
// This file uses only +, -, *, / and square roots, which IEEE 754 rounds the
// same on every machine.
#include <atelier/training/detail/separation.hpp>
#include <atelier/training/detail/signed_distance.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu::detail {

namespace {

float length(float x, float y) {
  return std::sqrt(x * x + y * y);
}

float box(float x, float y, float half_width, float half_height) {
  const auto dx = std::abs(x) - half_width;
  const auto dy = std::abs(y) - half_height;
  return length(std::max(dx, 0.f), std::max(dy, 0.f))
       + std::min(std::max(dx, dy), 0.f);
}

constexpr float square_half = 0.82f;

float triangle(float x, float y) {
  // The normal of the side from the tip (0, -0.9) to the corner (0.9, 0.7).
  constexpr auto nx = 0.871576f;
  constexpr auto ny = -0.490261f;
  return std::max(y - 0.7f, nx * std::abs(x) + ny * (y + 0.9f));
}

float star(float x, float y) {
  // Reflections at the five axes move each point between the upper tip and the
  // notch to its right, where one line bounds the star.
  constexpr auto kx = 0.809017f;
  constexpr auto ky = 0.587785f;
  auto px = std::abs(x);
  auto py = -y;
  auto over = 2 * std::max(kx * px - ky * py, 0.f);
  px -= over * kx;
  py += over * ky;
  over = 2 * std::max(-kx * px - ky * py, 0.f);
  px += over * kx;
  py += over * ky;
  px = std::abs(px);
  // The line runs from the tip (0, 1) to the notch, 0.45 from the centre.
  constexpr auto notch_x = 0.264503f;
  constexpr auto notch_y = 0.364058f;
  constexpr auto edge = 0.688756f;
  constexpr auto nx = (1 - notch_y) / edge;
  constexpr auto ny = notch_x / edge;
  return nx * px + ny * (py - 1);
}

float heart(float x, float y) {
  // The heart consists of two discs and the area below them that their tangents
  // from the tip enclose.
  constexpr auto disc_x = 0.48f;
  constexpr auto disc_y = -0.38f;
  constexpr auto disc_r = 0.5f;
  constexpr auto tip_y = 0.92f;
  constexpr auto nx = 0.749932f;
  constexpr auto ny = 0.661515f;
  const auto px = std::abs(x);
  const auto disc = length(px - disc_x, y - disc_y) - disc_r;
  const auto past_tangent = nx * px + ny * (y - tip_y);
  // The distance past the line from the disc's centre to the point where the
  // tangent touches it.
  const auto past_touch = ny * (px - disc_x) - nx * (y - disc_y);
  const auto above_discs = disc_y - y;
  return std::min(disc, std::max({past_tangent, past_touch, above_discs}));
}

float crescent(float x, float y) {
  // The crescent is moved to the right to centre it in its box.
  const auto px = x - 0.19f;
  return std::max(length(px, y) - 1, 0.8f - length(px - 0.45f, y));
}

} // namespace

float signed_distance(object_shape shape, float x, float y) {
  switch (shape) {
    case object_shape::circle:
      return length(x, y) - 1;
    case object_shape::square:
      return box(x, y, square_half, square_half);
    case object_shape::triangle:
      return triangle(x, y);
    case object_shape::star:
      return star(x, y);
    case object_shape::ring:
      return std::abs(length(x, y) - 0.74f) - 0.26f;
    case object_shape::cross:
      return std::min(box(x, y, 0.98f, 0.34f), box(x, y, 0.34f, 0.98f));
    case object_shape::diamond:
      // The outline is |x| / 0.72 + |y| = 1.
      return (std::abs(x) / 0.72f + std::abs(y) - 1) * 0.584305f;
    case object_shape::heart:
      return heart(x, y);
    case object_shape::crescent:
      return crescent(x, y);
    case object_shape::hexagon: {
      const auto px = std::abs(x);
      const auto py = std::abs(y);
      return std::max(py, 0.866025f * px + 0.5f * py) - 0.866025f;
    }
  }
  return 1;
}

float reach(object_shape shape, float dx, float dy) {
  const auto ax = std::abs(dx);
  const auto ay = std::abs(dy);
  switch (shape) {
    case object_shape::circle:
    case object_shape::ring:
      return 1;
    case object_shape::square:
      return square_half * (ax + ay);
    case object_shape::triangle:
      return std::max(-0.9f * dy, 0.9f * ax + 0.7f * dy);
    case object_shape::star:
      return std::max({-dy, 0.951057f * ax - 0.309017f * dy,
                       0.587785f * ax + 0.809017f * dy});
    case object_shape::cross:
      return std::max(0.98f * ax + 0.34f * ay, 0.34f * ax + 0.98f * ay);
    case object_shape::diamond:
      return std::max(0.72f * ax, ay);
    case object_shape::heart:
      return std::max(0.48f * ax - 0.38f * dy + 0.5f, 0.92f * dy);
    case object_shape::crescent:
      // Either the outer arc or a tip reaches farthest.
      return dx < 0.625f ? 0.19f * dx + 1 : 0.815f * dx + 0.780625f * ay;
    case object_shape::hexagon:
      return std::max(ax, 0.5f * ax + 0.866025f * ay);
  }
  return 1;
}

bool apart(const scene_object& x, const scene_object& y) {
  const auto dx = y.centre.x - x.centre.x;
  const auto dy = y.centre.y - x.centre.y;
  const auto between = length(dx, dy);
  if (between <= 0)
    return false;
  const auto ux = dx / between;
  const auto uy = dy / between;
  return reach(x.shape, ux, uy) * x.radius + reach(y.shape, -ux, -uy) * y.radius
         + least_gap
      <= between;
}

} // namespace atelier::gpu::detail
