// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::image {

/// Refers to the pixels of an image that is stored elsewhere.
/// Shape: bytes [height, width, channels], rows from the top, channels R, G, B
///        and, if there are four, A (not premultiplied); no padding.
struct pixel_view {
  core::extent px;
  uint32_t channels = 3;
  std::span<const uint8_t> bytes;
};

/// Owns the pixels of an image, laid out as in pixel_view.
struct bitmap {
  core::extent px;
  uint32_t channels = 3;
  std::vector<uint8_t> bytes;

  pixel_view view() const {
    return {px, channels, bytes};
  }

  friend bool operator==(const bitmap&, const bitmap&) = default;
};

/// Returns the size of such pixels in bytes.
constexpr uint64_t bytes_of(core::extent px, uint32_t channels) {
  return px.pixels() * channels;
}

} // namespace atelier::image
