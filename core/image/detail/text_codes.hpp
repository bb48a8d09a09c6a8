// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/detail/bytes.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace atelier::image::detail {

enum class byte_order { big, little };

/// Returns valid UTF-8 as Latin-1, or nothing if Latin-1 cannot hold all of it.
std::optional<std::string> to_latin1(std::string_view utf8);

/// Returns Latin-1 as UTF-8.
std::string from_latin1(bytes_view latin1);

/// Returns valid UTF-8 as big-endian UTF-16 without a byte order mark.
bytes to_utf16(std::string_view utf8);

/// Returns UTF-16 as UTF-8. Lone surrogates become U+FFFD; an odd last byte is
/// ignored.
std::string from_utf16(bytes_view utf16, byte_order order);

/// Returns `text` if it is valid UTF-8; otherwise reads it as Latin-1.
std::string utf8_or_latin1(bytes_view text);

} // namespace atelier::image::detail
