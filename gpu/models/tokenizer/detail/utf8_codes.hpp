// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Functions for the code points of valid UTF-8.
namespace atelier::gpu::detail {

/// Returns the code point at `i` and moves `i` past it.
/// @pre i < text.size()
inline char32_t next_code(std::string_view text, size_t& i) {
  const auto byte = [&] { return static_cast<uint8_t>(text[i++]); };
  const char32_t first = byte();
  if (first < 0x80)
    return first;
  const auto tail = [&](char32_t head) -> char32_t {
    return head << 6 | (byte() & 0x3Fu);
  };
  if (first < 0xE0)
    return tail(first & 0x1F);
  if (first < 0xF0)
    return tail(tail(first & 0x0F));
  return tail(tail(tail(first & 0x07)));
}

/// Returns the code point before `i` and moves `i` to its start.
/// @pre 0 < i && i <= text.size()
inline char32_t previous_code(std::string_view text, size_t& i) {
  do
    --i;
  while ((static_cast<uint8_t>(text[i]) & 0xC0) == 0x80);
  auto end = i;
  return next_code(text, end);
}

/// Returns all code points.
inline std::u32string codes_of(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();)
    out.push_back(next_code(text, i));
  return out;
}

/// Appends a code point.
inline void append_code(std::string& to, char32_t c) {
  const auto push = [&](char32_t byte) {
    to.push_back(static_cast<char>(static_cast<uint8_t>(byte)));
  };
  if (c < 0x80)
    return push(c);
  if (c < 0x800) {
    push(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      push(0xE0 | c >> 12);
    } else {
      push(0xF0 | c >> 18);
      push(0x80 | (c >> 12 & 0x3F));
    }
    push(0x80 | (c >> 6 & 0x3F));
  }
  push(0x80 | (c & 0x3F));
}

} // namespace atelier::gpu::detail
