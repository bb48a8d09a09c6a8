// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/detail/bytes.hpp>

#include <string_view>

namespace atelier::image::detail {

/// Calls `use(type, data)` with each chunk of a PNG file until it returns false
/// or a chunk is cut short.
template <class F>
void for_each_png_chunk(bytes_view file, F use) {
  // After the signature, a chunk has a length, a type, data and a checksum.
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

/// Appends a chunk of that type, with its length and checksum.
void append_png_chunk(bytes& to, std::string_view type, bytes_view data);

/// Appends `text` (UTF-8) under the keyword "parameters". It is a tEXt chunk if
/// Latin-1 can hold the text, otherwise an iTXt chunk, as the web UI's library
/// writes it.
void append_png_text(bytes& to, std::string_view text);

} // namespace atelier::image::detail
