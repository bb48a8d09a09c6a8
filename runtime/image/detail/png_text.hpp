// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/image/detail/bytes.hpp>

#include <string_view>

namespace atelier::image::detail {

/// Append a chunk of that type, with length and check sum.
void append_png_chunk(bytes& to, std::string_view type, bytes_view data);

/// Append `text` (UTF-8) under the keyword "parameters": as tEXt where Latin-1
/// can hold it, or else as iTXt, which is what the web UI's library does.
void append_png_text(bytes& to, std::string_view text);

} // namespace atelier::image::detail
