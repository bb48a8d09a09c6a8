// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Walks over JSON text whose form is known beforehand. Builds no tree, does
/// not recurse, and allocates nothing but the strings that it returns.
/// Every function skips white space first. One that fails says why in `fault`
/// and leaves the cursor where it was found.
class json_cursor {
public:
  explicit json_cursor(std::string_view text) : text_(text) {}

  /// Takes the character where it comes next.
  bool take(char c);

  /// Takes the character or fails.
  bool expect(char c);

  /// Takes a string, its escapes resolved. Fails for what is not UTF-8.
  std::optional<std::string> string();

  /// Takes a whole number in 0..2^64-1.
  std::optional<uint64_t> whole();

  /// Returns whether nothing but white space is left.
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
