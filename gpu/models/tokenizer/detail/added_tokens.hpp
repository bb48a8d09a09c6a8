// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// A token that is found in the text before the text is split into words.
struct added_token {
  std::string content;
  int32_t id = 0;
  /// Whether it also absorbs white space on its left or right.
  bool lstrip = false;
  bool rstrip = false;
  /// Whether it is found in the normal form of the text instead of the text.
  bool normalized = false;
  /// Only affects which tokens count as equal.
  bool special = false;

  friend bool operator==(const added_token&, const added_token&) = default;
};

/// Finds added tokens in a text: the leftmost first, and the longest of those.
/// Threads: any; it does not change.
/// Source: tokenizers, src/tokenizer/added_vocabulary.rs
class token_finder {
public:
  /// An added token's id, or the text between two added tokens.
  struct piece {
    std::string_view text;
    std::optional<int32_t> id;
  };

  /// Adds `pattern` to search for `token`. Empty patterns are ignored. Returns
  /// false if the pattern was added before.
  bool add(std::string_view pattern, const added_token& token);

  /// Splits a text into pieces, none of them empty, that together are the whole
  /// text. Takes time proportional to the length times the longest pattern.
  std::vector<piece> split(std::string_view text) const;

private:
  struct node {
    // Bytes and the nodes that they lead to, in order of the bytes.
    std::vector<std::pair<uint8_t, uint32_t>> next;
    std::optional<uint32_t> token;
  };

  std::vector<node> nodes_ = std::vector<node>(1);
  std::vector<added_token> tokens_;
};

} // namespace atelier::gpu::detail
