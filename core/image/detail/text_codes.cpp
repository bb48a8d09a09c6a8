// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/detail/text_codes.hpp>
#include <atelier/core/utf8.hpp>

namespace atelier::image::detail {

namespace {

/// Removes the first code point of valid UTF-8 and returns it.
char32_t take_code_point(std::string_view& utf8) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(utf8[i]); };
  const auto tail = [&](size_t i) { return char32_t{byte(i)} & 0x3F; };
  char32_t c = byte(0);
  size_t length = 1;
  if (c >= 0xF0) {
    c = (c & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    length = 4;
  } else if (c >= 0xE0) {
    c = (c & 0x0F) << 12 | tail(1) << 6 | tail(2);
    length = 3;
  } else if (c >= 0xC0) {
    c = (c & 0x1F) << 6 | tail(1);
    length = 2;
  }
  utf8.remove_prefix(length);
  return c;
}

} // namespace

std::optional<std::string> to_latin1(std::string_view utf8) {
  std::string latin1;
  while (!utf8.empty()) {
    const char32_t c = take_code_point(utf8);
    if (c > 0xFF)
      return std::nullopt;
    latin1 += static_cast<char>(static_cast<uint8_t>(c));
  }
  return latin1;
}

std::string from_latin1(bytes_view latin1) {
  std::string utf8;
  for (uint8_t byte : latin1)
    utf8 += core::to_utf8(byte);
  return utf8;
}

bytes to_utf16(std::string_view utf8) {
  bytes utf16;
  while (!utf8.empty()) {
    const char32_t c = take_code_point(utf8);
    if (c < 0x10000) {
      append_be16(utf16, c);
    } else {
      append_be16(utf16, 0xD800 + ((c - 0x10000) >> 10));
      append_be16(utf16, 0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  return utf16;
}

std::string from_utf16(bytes_view utf16, byte_order order) {
  const auto unit = [&](size_t i) -> char32_t {
    const bytes_view at = utf16.subspan(i, 2);
    return order == byte_order::big ? be16(at) : le16(at);
  };
  std::string utf8;
  for (size_t i = 0; i + 2 <= utf16.size(); i += 2) {
    char32_t c = unit(i);
    const bool high = c >= 0xD800 && c < 0xDC00;
    if (high && i + 4 <= utf16.size()) {
      const char32_t next = unit(i + 2);
      if (next >= 0xDC00 && next < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (next - 0xDC00);
        i += 2;
      }
    }
    utf8 += core::to_utf8(c);
  }
  return utf8;
}

std::string utf8_or_latin1(bytes_view text) {
  if (core::find_utf8_fault(as_text(text)))
    return from_latin1(text);
  return std::string{as_text(text)};
}

} // namespace atelier::image::detail
