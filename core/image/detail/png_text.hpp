// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/detail/bytes.hpp>

#include <string_view>

namespace atelier::image::detail {

/// Calls `use(type, data)` with each chunk of a PNG file until it returns false
/// or a chunk is cut short.
template <class F>
void for_each_png_chunk(bytes_view file, F use) {
  // Behind the signature: length, type, data, check sum.
  bytes_view rest = part(file, 8);
  while (rest.size() >= 12) {
    const size_t length = be32(rest);
    if (length > rest.size() - 12)
      return;
    if (!use(as_text(rest.subspan(4, 4)), rest.subspan(8, length)))
      return;
    rest = rest.subspan(12 + length);
  }
}

/// Append a chunk of that type, with length and check sum.
void append_png_chunk(bytes& to, std::string_view type, bytes_view data);

/// Append `text` (UTF-8) under the keyword "parameters": as tEXt where Latin-1
/// can hold it, or else as iTXt, which is what the web UI's library does.
void append_png_text(bytes& to, std::string_view text);

} // namespace atelier::image::detail
