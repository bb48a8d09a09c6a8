// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Returns whether a byte belongs to a word. Non-ASCII bytes do, so that words
/// with them are reported whole.
inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
      || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

/// Returns text with ASCII letters in lower case.
inline std::string lower(std::string_view text) {
  std::string out{text};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

} // namespace atelier::gpu::detail
