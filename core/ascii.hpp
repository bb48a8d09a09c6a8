// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::core {

// What the formats and protocols call letters, digits and blanks: bytes of
// ASCII, whatever the locale is.
// Threads: any.

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns whether `c` is a letter or a digit.
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

/// Returns the value of a hexadecimal digit; nothing for another character.
constexpr std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c))
    return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f')
    return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F')
    return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_case(std::string_view x) {
  std::string out{x};
  for (char& c : out)
    c = lower(c);
  return out;
}

/// Returns whether two texts differ only in capital letters.
constexpr bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// Returns whether `c` is one of the blanks within a line.
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Returns the text without the blanks at its ends.
template <class Blank = bool (*)(char)>
constexpr std::string_view trim(std::string_view x, Blank blank = is_blank) {
  while (!x.empty() && blank(x.front()))
    x.remove_prefix(1);
  while (!x.empty() && blank(x.back()))
    x.remove_suffix(1);
  return x;
}

} // namespace atelier::core
