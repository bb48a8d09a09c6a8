// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace atelier::gpu {

/// A picture and the words below it.
struct sheet_cell {
  image::picture picture;
  std::string text;
};

struct sheet_options {
  uint32_t columns = 6;
  /// Pixels of the sheet for one of a picture, along each side.
  uint32_t scale = 1;
  /// Lines of text below each picture; what does not fit is cut off.
  uint32_t text_lines = 5;
};

/// Put pictures side by side, each over its text in ASCII.
/// Threads: any.
/// @pre all pictures are RGB8 of one extent; columns and scale are at least 1
image::picture contact_sheet(std::span<const sheet_cell> cells,
                             const sheet_options& how = {});

} // namespace atelier::gpu
