// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ascii.hpp>

namespace atelier::core::detail {

// What the web UI's prompt parser takes for white space and for a part of a
// word (\s and \w), byte by byte.

constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr bool is_word(char c) {
  return is_alphanumeric(c) || c == '_'
      || static_cast<unsigned char>(c) >= 0x80;
}

} // namespace atelier::core::detail
