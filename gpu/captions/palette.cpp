// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/palette.hpp>

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

} // namespace atelier::gpu
