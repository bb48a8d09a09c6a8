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

/// A rectangle of pixels, without its right column and bottom row.
struct box {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

/// A circle with a whole-pixel centre and radius. Invariant: radius > 0.
struct disc {
  int x = 0;
  int y = 0;
  int radius = 0;

  /// Returns half the width of the disc in row `at`, or 0 outside it.
  int half_width(int at) const;
};

/// Returns the largest integer whose square is at most `x`.
int root(int64_t x);

/// Draws into RGB8 pixels in integer arithmetic only, so that every machine
/// draws the same pixels. Clips to the image and to the disc set by `clip`.
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

  /// Draws a ring, `thickness` pixels inwards from the disc's edge,
  /// antialiased.
  void ring(const disc& at, int thickness, colour with);

  /// Writes `line` with its top left corner at (x, y), `scale` pixels per dot.
  void write(int x, int y, int scale, colour with, std::string_view line);

private:
  void blend(int x, int y, colour with, int sixteenths);

  std::span<std::byte> rgb_;
  int width_;
  int height_;
  disc clip_;
};

} // namespace atelier::gpu::detail
