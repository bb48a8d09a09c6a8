// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/palette.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

double linear(uint8_t x) {
  const auto v = x / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

double lab_curve(double t) {
  constexpr auto knee = 216.0 / 24389;
  return t > knee ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

rgb8 blend(rgb8 x, rgb8 y, float share) {
  const auto mix = [share](uint8_t a, uint8_t b) {
    const auto v = static_cast<float>(a) + static_cast<float>(b - a) * share;
    return static_cast<uint8_t>(std::floor(v + 0.5f));
  };
  return {mix(x.r, y.r), mix(x.g, y.g), mix(x.b, y.b)};
}

} // namespace

lab to_lab(rgb8 colour) {
  const auto r = linear(colour.r);
  const auto g = linear(colour.g);
  const auto b = linear(colour.b);
  const auto x = lab_curve((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const auto y = lab_curve(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const auto z = lab_curve((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return {static_cast<float>(116 * y - 16), static_cast<float>(500 * (x - y)),
          static_cast<float>(200 * (y - z))};
}

rgb8 colour_of(object_colour x) {
  switch (x) {
    case object_colour::red:
      return {220, 40, 40};
    case object_colour::orange:
      return {248, 138, 20};
    case object_colour::yellow:
      return {252, 224, 50};
    case object_colour::green:
      return {35, 160, 65};
    case object_colour::blue:
      return {25, 100, 235};
    case object_colour::purple:
      return {150, 40, 170};
    case object_colour::white:
      return {246, 246, 246};
    case object_colour::black:
      return {18, 18, 18};
  }
  return {};
}

rgb8 colour_of(background_colour x) {
  switch (x) {
    case background_colour::white:
      return {246, 246, 246};
    case background_colour::black:
      return {18, 18, 18};
    case background_colour::grey:
      return {130, 130, 130};
    case background_colour::pink:
      return {252, 182, 208};
    case background_colour::brown:
      return {110, 70, 40};
    case background_colour::navy:
      return {25, 38, 100};
    case background_colour::teal:
      return {0, 125, 120};
  }
  return {};
}

rgb8 pattern_colour_of(object_colour x) {
  const auto base = colour_of(x);
  switch (x) {
    case object_colour::yellow:
    case object_colour::white:
      return blend(base, {0, 0, 0}, 0.38f);
    case object_colour::black:
      return blend(base, {255, 255, 255}, 0.42f);
    default:
      return blend(base, {255, 255, 255}, 0.48f);
  }
}

rgb8 colour_at(const scene_background& x, scene_point at) {
  const auto share =
    (x.grade == background_grade::horizontal ? at.x : at.y) / scene_side;
  return blend(colour_of(x.from), colour_of(x.to), std::clamp(share, 0.f, 1.f));
}

bool stands_out(const scene_object& object, const scene_background& on) {
  if (to_string(object.colour) == to_string(on.from)
      || to_string(object.colour) == to_string(on.to))
    return false;
  const auto base = to_lab(colour_of(object.colour));
  const auto pattern = object.texture == object_texture::plain
                       ? base
                       : to_lab(pattern_colour_of(object.colour));
  // Along the gradient: the end points on either side, and between them.
  for (const auto step : {-1.f, -0.5f, 0.f, 0.5f, 1.f}) {
    const auto off = step * object.radius;
    const auto behind =
      to_lab(colour_at(on, {object.centre.x + off, object.centre.y + off}));
    if (std::min(distance(base, behind), distance(pattern, behind))
        < least_contrast)
      return false;
  }
  return true;
}

} // namespace atelier::gpu
