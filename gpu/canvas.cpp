// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/bitmap_font.hpp>
#include <atelier/gpu/canvas.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

int root(int64_t x) {
  int64_t low = 0;
  int64_t high = int64_t{1} << 15;
  while (low < high) {
    const auto mid = (low + high + 1) / 2;
    if (mid * mid <= x)
      low = mid;
    else
      high = mid - 1;
  }
  return static_cast<int>(low);
}

int disc::half_width(int at) const {
  const int64_t dy = at - y;
  const auto square = int64_t{radius} * radius - dy * dy;
  return square > 0 ? root(square) : 0;
}

canvas::canvas(std::span<std::byte> rgb, core::extent px)
  : rgb_(rgb),
    width_(static_cast<int>(px.width)),
    height_(static_cast<int>(px.height)) {}

void canvas::clip(const disc& to) {
  clip_ = to;
}

void canvas::unclip() {
  clip_ = {};
}

void canvas::fill(const box& area, colour with) {
  const std::byte pixel[] = {std::byte{with.r}, std::byte{with.g},
                             std::byte{with.b}};
  for (auto y = std::max(area.top, 0); y < std::min(area.bottom, height_);
       ++y) {
    auto from = std::max(area.left, 0);
    auto to = std::min(area.right, width_);
    if (clip_.radius > 0) {
      const auto half = clip_.half_width(y);
      from = std::max(from, clip_.x - half);
      to = std::min(to, clip_.x + half);
    }
    if (from >= to)
      continue;
    auto at = (static_cast<size_t>(y) * static_cast<size_t>(width_)
               + static_cast<size_t>(from))
            * 3;
    for (auto x = from; x < to; ++x, at += 3)
      std::copy(std::begin(pixel), std::end(pixel), rgb_.data() + at);
  }
}

void canvas::ring(const disc& at, int thickness, colour with) {
  // Samples are at odd eighths of a pixel, four by four in each pixel.
  const auto outer = int64_t{64} * at.radius * at.radius;
  const auto hole = std::max(at.radius - thickness, 0);
  const auto inner = int64_t{64} * hole * hole;
  const auto cover = [&](int x, int y) {
    auto n = 0;
    for (auto i = 0; i < 16; ++i) {
      const int64_t dx = 8 * (x - at.x) + 1 + 2 * (i % 4);
      const int64_t dy = 8 * (y - at.y) + 1 + 2 * (i / 4);
      const auto square = dx * dx + dy * dy;
      n += square <= outer && square >= inner;
    }
    return n;
  };
  const auto wide = disc{at.x, at.y, at.radius + 2};
  const auto narrow = disc{at.x, at.y, std::max(hole - 2, 1)};
  for (auto y = at.y - at.radius - 1; y <= at.y + at.radius; ++y) {
    const auto most = wide.half_width(y);
    const auto least = narrow.half_width(y);
    for (auto x = at.x - most; x <= at.x + most; ++x) {
      if (x == at.x - least && least > 0)
        x = at.x + least;
      if (const auto n = cover(x, y); n > 0)
        blend(x, y, with, n);
    }
  }
}

void canvas::write(int x, int y, int scale, colour with,
                   std::string_view line) {
  for (const auto c : line) {
    for (auto row = 0u; row < glyph_height; ++row)
      for (auto column = 0u; column < glyph_width; ++column)
        if (glyph_ink(c, column, row)) {
          const auto left = x + static_cast<int>(column) * scale;
          const auto top = y + static_cast<int>(row) * scale;
          fill({left, top, left + scale, top + scale}, with);
        }
    x += static_cast<int>(glyph_width + 1) * scale;
  }
}

void canvas::blend(int x, int y, colour with, int sixteenths) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_)
    return;
  const auto at = (static_cast<size_t>(y) * static_cast<size_t>(width_)
                   + static_cast<size_t>(x))
                * 3;
  const int to[] = {with.r, with.g, with.b};
  for (auto i = size_t{0}; i < 3; ++i) {
    const auto was = std::to_integer<int>(rgb_[at + i]);
    rgb_[at + i] = static_cast<std::byte>(
      (was * (16 - sixteenths) + to[i] * sixteenths) / 16);
  }
}

} // namespace atelier::gpu::detail
