// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/scene_terms.hpp>

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

/// A colour in CIE L*a*b*, D65. Euclidean distance approximates perceived
/// difference.
struct lab {
  float l = 0;
  float a = 0;
  float b = 0;
};

lab to_lab(rgb8 x);

/// Returns the distance between two colours (CIE 1976).
inline float distance(const lab& x, const lab& y) {
  const auto dl = x.l - y.l;
  const auto da = x.a - y.a;
  const auto db = x.b - y.b;
  return std::sqrt(dl * dl + da * da + db * db);
}

rgb8 colour_of(object_colour x);
rgb8 colour_of(background_colour x);

} // namespace atelier::gpu
