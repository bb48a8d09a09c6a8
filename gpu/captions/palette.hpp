// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

#include <cmath>
#include <cstdint>

namespace atelier::gpu {

/// A colour in sRGB.
struct rgb8 {
  uint8_t r = 0;
  uint8_t g = 0;
  uint8_t b = 0;

  friend bool operator==(const rgb8&, const rgb8&) = default;
};

/// A colour in CIE L*a*b*, D65: Euclidean distance is roughly what people see.
struct lab {
  float l = 0;
  float a = 0;
  float b = 0;
};

lab to_lab(rgb8 x);

/// Return the distance of two colours (CIE 1976).
inline float distance(const lab& x, const lab& y) {
  const auto dl = x.l - y.l;
  const auto da = x.a - y.a;
  const auto db = x.b - y.b;
  return std::sqrt(dl * dl + da * da + db * db);
}

rgb8 colour_of(object_colour x);
rgb8 colour_of(background_colour x);

/// Return the colour of the stripes or dots on an object of that colour:
/// lighter than it, or darker where it is light.
rgb8 pattern_colour_of(object_colour x);

/// Return the background's colour at a point of the scene.
rgb8 colour_at(const scene_background& x, scene_point at);

/// Objects and their patterns differ at least this much from the background
/// behind them.
inline constexpr float least_contrast = 30;

/// Tell whether `object` differs enough from the background round it, and has
/// not the name of one of its colours.
bool stands_out(const scene_object& object, const scene_background& on);

} // namespace atelier::gpu
