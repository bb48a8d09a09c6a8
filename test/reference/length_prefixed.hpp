// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace atelier::reference {

/// Reads a text from the standard input: its number of bytes as uint32, then
/// the bytes. Returns nothing at the end.
inline std::optional<std::string> read_prefixed() {
  uint32_t bytes = 0;
  if (std::fread(&bytes, sizeof bytes, 1, stdin) != 1)
    return std::nullopt;
  std::string out(bytes, '\0');
  if (std::fread(out.data(), 1, bytes, stdin) != bytes)
    return std::nullopt;
  return out;
}

/// Writes the bytes of a number to the standard output.
template <class T>
void write_number(const T& x) {
  std::fwrite(&x, sizeof x, 1, stdout);
}

} // namespace atelier::reference
