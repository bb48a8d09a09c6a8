// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::image {

/// Refers to the pixels of a picture, wherever they lie.
/// Shape: bytes [height, width, channels], rows from the top, channels R, G, B
///        and, if there are four, A (not premultiplied); without padding.
struct pixel_view {
  core::extent px;
  uint32_t channels = 3;
  std::span<const uint8_t> bytes;
};

/// Owns the pixels of a picture, laid out as in pixel_view.
struct picture {
  core::extent px;
  uint32_t channels = 3;
  std::vector<uint8_t> bytes;

  pixel_view view() const {
    return {px, channels, bytes};
  }

  friend bool operator==(const picture&, const picture&) = default;
};

/// Returns the bytes that pixels of that form take.
constexpr uint64_t bytes_of(core::extent px, uint32_t channels) {
  return px.pixels() * channels;
}

} // namespace atelier::image
