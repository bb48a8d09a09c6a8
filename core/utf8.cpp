// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>

#include <cstdint>
#include <cstring>

namespace atelier::core {

namespace {

/// The form of a sequence, given its first byte.
struct sequence {
  /// Total number of bytes; 0 if no sequence starts with this byte.
  size_t length;
  /// Range of the second byte, which excludes overlong forms, surrogates and
  /// values that are too large.
  uint8_t low;
  uint8_t high;
};

constexpr sequence sequence_of(uint8_t first) {
  if (first < 0x80)
    return {1, 0, 0};
  if (first < 0xC2)
    return {0, 0, 0};
  if (first < 0xE0)
    return {2, 0x80, 0xBF};
  if (first == 0xE0)
    return {3, 0xA0, 0xBF};
  if (first == 0xED)
    return {3, 0x80, 0x9F};
  if (first < 0xF0)
    return {3, 0x80, 0xBF};
  if (first == 0xF0)
    return {4, 0x90, 0xBF};
  if (first < 0xF4)
    return {4, 0x80, 0xBF};
  if (first == 0xF4)
    return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

} // namespace

std::optional<size_t> find_utf8_fault(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII bytes are checked at a time, because prompts are mostly
    // ASCII.
    if (text.size() - at >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & 0x8080808080808080ull) == 0) {
        at += 8;
        continue;
      }
    }
    const sequence s = sequence_of(byte(at));
    if (s.length == 0 || s.length > text.size() - at)
      return at;
    if (s.length > 1 && (byte(at + 1) < s.low || byte(at + 1) > s.high))
      return at;
    for (size_t i = 2; i < s.length; ++i)
      if ((byte(at + i) & 0xC0) != 0x80)
        return at;
    at += s.length;
  }
  return std::nullopt;
}

std::string_view beginning_of(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes)
    return text;
  auto end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end);
}

std::string to_utf8(char32_t code_point) {
  uint32_t c = code_point;
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
    c = 0xFFFD;
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80 | ((c >> shift) & 0x3F));
  };
  if (c < 0x80)
    return {static_cast<char>(c)};
  if (c < 0x800)
    return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000)
    return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

} // namespace atelier::core
