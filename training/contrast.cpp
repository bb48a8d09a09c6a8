// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/contrast.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

rgb8 blend(rgb8 x, rgb8 y, float share) {
  const auto mix = [share](uint8_t a, uint8_t b) {
    const auto v = static_cast<float>(a) + static_cast<float>(b - a) * share;
    return static_cast<uint8_t>(std::floor(v + 0.5f));
  };
  return {mix(x.r, y.r), mix(x.g, y.g), mix(x.b, y.b)};
}

} // namespace

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
  // Samples points along the gradient: both ends of the object and points
  // between them.
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
