// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Parses JSON text of a known form. It builds no tree, does not recurse, and
/// allocates only the strings that it returns. Every function skips white space
/// first. A function that fails sets `fault` and leaves the cursor unchanged.
class json_cursor {
public:
  explicit json_cursor(std::string_view text) : text_(text) {}

  /// Consumes the character if it is next.
  bool take(char c);

  /// Consumes the word if it is next.
  bool take_word(std::string_view word);

  /// Consumes the character or fails.
  bool expect(char c);

  /// Parses a string and resolves its escapes. Fails if it is not UTF-8.
  std::optional<std::string> string();

  /// Parses an integer in 0..2^64-1.
  std::optional<uint64_t> whole();

  /// Returns whether only white space is left.
  bool at_end();

  /// Returns "at byte N: REASON".
  const std::string& fault() const {
    return fault_;
  }

private:
  void skip_space();
  bool fail(std::string_view why);
  std::optional<uint32_t> four_digits();
  bool escape(std::string& out);

  std::string_view text_;
  size_t at_ = 0;
  std::string fault_;
};

} // namespace atelier::gpu::detail
