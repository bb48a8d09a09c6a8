// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/gpu/captions/palette.hpp>
#include <atelier/training/contrast.hpp>
#include <atelier/training/detail/signed_distance.hpp>
#include <atelier/training/render.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace atelier::gpu {

namespace {

using detail::signed_distance;

// Patterns are fixed in the image and repeat every 16 units in both directions,
// which are two cells of a latent of factor 8, so that an autoencoder has few
// of them to learn. The distance across the stripes, and between nearest dots,
// is 11.3.
constexpr float pattern_period = 16;
constexpr float stripe_half_width = 4;
constexpr float dot_radius = 3.4f;

float wrapped(float v) {
  return v - pattern_period * std::floor(v / pattern_period);
}

// Returns how far inside a stripe or dot a point is, in scene units.
float depth_in_pattern(object_texture texture, float x, float y) {
  constexpr auto middle = pattern_period / 2;
  if (texture == object_texture::striped) {
    const auto off = std::abs(wrapped(x + y) - middle);
    return (stripe_half_width - off) * 0.707107f;
  }
  const auto u = std::abs(wrapped(x) - middle);
  const auto v = std::abs(wrapped(y) - middle);
  const auto to_one = u * u + v * v;
  const auto to_other =
    (middle - u) * (middle - u) + (middle - v) * (middle - v);
  return dot_radius - std::sqrt(std::min(to_one, to_other));
}

float coverage(float depth_px) {
  return std::clamp(0.5f + depth_px, 0.f, 1.f);
}

uint8_t to_byte(float v) {
  return static_cast<uint8_t>(std::floor(v + 0.5f));
}

float mix(uint8_t from, uint8_t to, float share) {
  const auto a = static_cast<float>(from);
  return a + (static_cast<float>(to) - a) * share;
}

// The square of pixels to draw into.
struct target {
  uint32_t side_px;
  float px_per_unit;
  std::span<uint8_t> rgb;

  uint8_t* at(uint32_t x, uint32_t y) const {
    return rgb.data() + (size_t{y} * side_px + x) * 3;
  }

  // Returns the scene coordinate of a pixel's centre.
  float unit(uint32_t px) const {
    return (static_cast<float>(px) + 0.5f) / px_per_unit;
  }
};

void fill(const target& to, const scene_background& with) {
  const auto line = [&](bool across) {
    std::vector<rgb8> out(to.side_px);
    for (auto i = 0u; i < to.side_px; ++i) {
      const auto at = to.unit(i);
      out[i] =
        colour_at(with, across ? scene_point{at, 0} : scene_point{0, at});
    }
    return out;
  };
  const auto across = with.grade == background_grade::horizontal;
  const auto colours = line(across);
  for (auto y = 0u; y < to.side_px; ++y)
    for (auto x = 0u; x < to.side_px; ++x) {
      const auto c = colours[across ? x : y];
      auto* p = to.at(x, y);
      p[0] = c.r;
      p[1] = c.g;
      p[2] = c.b;
    }
}

class object_painter {
public:
  object_painter(const target& to, const scene_object& what)
    : to_(to),
      what_(what),
      base_(colour_of(what.colour)),
      pattern_(pattern_colour_of(what.colour)) {}

  void paint() const {
    const auto first_x = first(what_.centre.x);
    const auto first_y = first(what_.centre.y);
    const auto end_x = end(what_.centre.x);
    const auto end_y = end(what_.centre.y);
    for (auto y = first_y; y < end_y; y += block_px)
      for (auto x = first_x; x < end_x; x += block_px)
        paint_block(x, y, std::min(x + block_px, end_x),
                    std::min(y + block_px, end_y));
  }

private:
  static constexpr uint32_t block_px = 8;

  uint32_t first(float centre) const {
    const auto v = std::floor((centre - what_.radius) * to_.px_per_unit) - 1;
    return static_cast<uint32_t>(std::max(v, 0.f));
  }

  uint32_t end(float centre) const {
    const auto v = std::ceil((centre + what_.radius) * to_.px_per_unit) + 1;
    return std::min(static_cast<uint32_t>(std::max(v, 0.f)), to_.side_px);
  }

  float distance_px(float x, float y) const {
    return signed_distance(what_.shape, (x - what_.centre.x) / what_.radius,
                           (y - what_.centre.y) / what_.radius)
         * what_.radius * to_.px_per_unit;
  }

  // The distance at a block's centre shows whether the whole block is inside or
  // outside, because distances change no faster than their argument.
  void paint_block(uint32_t left, uint32_t top, uint32_t right,
                   uint32_t bottom) const {
    constexpr auto half_diagonal = 0.7072f * block_px + 1;
    const auto half = 0.5f * block_px / to_.px_per_unit;
    const auto middle =
      distance_px(to_.unit(left) + half, to_.unit(top) + half);
    if (middle > half_diagonal)
      return;
    for (auto y = top; y < bottom; ++y)
      for (auto x = left; x < right; ++x) {
        const auto ux = to_.unit(x);
        const auto uy = to_.unit(y);
        const auto alpha =
          middle < -half_diagonal ? 1 : coverage(-distance_px(ux, uy));
        if (alpha > 0)
          paint_pixel(to_.at(x, y), alpha, ux, uy);
      }
  }

  void paint_pixel(uint8_t* p, float alpha, float x, float y) const {
    auto share = 0.f;
    if (what_.texture != object_texture::plain)
      share = coverage(depth_in_pattern(what_.texture, x, y) * to_.px_per_unit);
    const auto blend = [&](uint8_t& behind, uint8_t base, uint8_t pattern) {
      const auto own = mix(base, pattern, share);
      const auto back = static_cast<float>(behind);
      behind = to_byte(back + (own - back) * alpha);
    };
    blend(p[0], base_.r, pattern_.r);
    blend(p[1], base_.g, pattern_.g);
    blend(p[2], base_.b, pattern_.b);
  }

  const target& to_;
  const scene_object& what_;
  rgb8 base_;
  rgb8 pattern_;
};

} // namespace

void render(const scene& what, uint32_t side_px, std::span<uint8_t> rgb) {
  ATELIER_EXPECTS(side_px >= 1, "an image has pixels");
  ATELIER_EXPECTS(rgb.size() == size_t{side_px} * side_px * 3,
                  "the bytes fit the side");
  const target to{side_px, static_cast<float>(side_px) / scene_side, rgb};
  fill(to, what.background);
  for (const auto& object : what.objects)
    object_painter{to, object}.paint();
}

image::bitmap render(const scene& what, uint32_t side_px) {
  image::bitmap out;
  out.px = {side_px, side_px};
  out.bytes.resize(size_t{side_px} * side_px * 3);
  render(what, side_px, out.bytes);
  return out;
}

void to_planes(const image::pixel_view& rgb, std::span<float> out) {
  ATELIER_EXPECTS(rgb.channels == 3 && out.size() == rgb.bytes.size(),
                  "three planes of the image's extent");
  const auto plane = static_cast<size_t>(rgb.px.pixels());
  for (auto i = size_t{0}; i < plane; ++i)
    for (auto c = size_t{0}; c < 3; ++c)
      out[c * plane + i] =
        static_cast<float>(rgb.bytes[i * 3 + c]) / 127.5f - 1;
}

void render_batch(std::span<const scene> scenes, uint32_t side_px,
                  std::span<float> out) {
  const auto each = size_t{side_px} * side_px * 3;
  ATELIER_EXPECTS(out.size() == scenes.size() * each,
                  "as many images as scenes");
  std::vector<uint8_t> rgb(each);
  for (auto i = size_t{0}; i < scenes.size(); ++i) {
    render(scenes[i], side_px, rgb);
    to_planes({{side_px, side_px}, 3, rgb}, out.subspan(i * each, each));
  }
}

} // namespace atelier::gpu
