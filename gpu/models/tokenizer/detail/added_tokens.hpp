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
  /// Takes the white space on that side too.
  bool lstrip = false;
  bool rstrip = false;
  /// Found in the normal form of the text instead of in the text.
  bool normalized = false;
  /// Only changes which of two tokens are the same.
  bool special = false;

  friend bool operator==(const added_token&, const added_token&) = default;
};

/// Finds added tokens in a text: the leftmost, of those the longest.
/// Threads: any; it does not change.
/// Source: tokenizers, src/tokenizer/added_vocabulary.rs
class token_finder {
public:
  /// The id of an added token, or the text between two.
  struct piece {
    std::string_view text;
    std::optional<int32_t> id;
  };

  /// Adds what is looked for: `pattern` for `token`. Empty ones are left out.
  /// Returns false where that pattern is there already.
  bool add(std::string_view pattern, const added_token& token);

  /// Cuts a text into pieces that together are all of it, without empty ones.
  /// Takes time in proportion to the length times the longest pattern.
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
