// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::config::detail {

/// The maximum length of an option's text, in bytes.
inline constexpr size_t most_text_bytes = 4096;

/// Returns whether `x` is UTF-8 without control characters and not too long.
bool is_plain(std::string_view x);

/// Returns `x` with control characters, quotes and backslashes escaped as in
/// TOML and bytes that are not UTF-8 replaced, so that it is safe to print.
std::string escape(std::string_view x);

/// Returns `x` as a TOML basic string on one line.
std::string quote(std::string_view x);

/// Returns `x` as a key: bare if TOML allows it, otherwise quoted and
/// shortened.
std::string quote_key(std::string_view x);

/// Cuts valid UTF-8 so that it fits into a message.
std::string shorten(std::string_view x);

} // namespace atelier::config::detail
