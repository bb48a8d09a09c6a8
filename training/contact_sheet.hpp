// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace atelier::gpu {

/// An image and the text below it.
struct sheet_cell {
  image::bitmap image;
  std::string text;
};

struct sheet_options {
  uint32_t columns = 6;
  /// Number of the sheet's pixels for one pixel of an image, along each side.
  uint32_t scale = 1;
  /// Lines of text below each image; longer text is cut off.
  uint32_t text_lines = 5;
};

/// Puts images side by side, each above its text in ASCII.
/// Threads: any.
/// @pre all images are RGB8 of one extent; columns and scale are at least 1
image::bitmap contact_sheet(std::span<const sheet_cell> cells,
                            const sheet_options& how = {});

} // namespace atelier::gpu
