// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace atelier::gpu::detail {

struct colour {
  uint8_t r = 0;
  uint8_t g = 0;
  uint8_t b = 0;
};

/// A rectangle of pixels: left and top inside, right and bottom outside.
struct box {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

/// A circle in whole pixels. Invariant: radius > 0.
struct disc {
  int x = 0;
  int y = 0;
  int radius = 0;

  /// Return half the width of the disc in row `at`, 0 outside.
  int half_width(int at) const;
};

/// Return the largest whole number whose square is at most `x`.
int root(int64_t x);

/// Draws into RGB8 pixels, in whole numbers alone, so that every machine draws
/// the same. What lies outside the picture, or outside the disc set by `clip`,
/// is left out.
class canvas {
public:
  /// @pre rgb has 3 * px.width * px.height bytes
  canvas(std::span<std::byte> rgb, core::extent px);

  int width() const {
    return width_;
  }

  int height() const {
    return height_;
  }

  void clip(const disc& to);
  void unclip();

  void fill(const box& area, colour with);

  /// Draw a ring of `thickness` pixels inwards from the disc's edge, smoothed.
  void ring(const disc& at, int thickness, colour with);

  /// Write `line` with its top left corner at (x, y), `scale` pixels a dot.
  void write(int x, int y, int scale, colour with, std::string_view line);

private:
  void blend(int x, int y, colour with, int sixteenths);

  std::span<std::byte> rgb_;
  int width_;
  int height_;
  disc clip_;
};

} // namespace atelier::gpu::detail
