// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atelier::gpu::detail {

/// The largest accepted id: far above any vocabulary, and far below values that
/// could overflow.
inline constexpr int32_t most_token_id = (1 << 24) - 1;

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

/// Added tokens, sorted into those found in the text and those found in its
/// normal form.
struct token_finders {
  token_finder in_text;
  token_finder in_normal_form;
  /// One more than the largest id of all tokens.
  uint32_t vocabulary_size = 0;
};

/// Makes the finders of a tokenizer. Of tokens with the same id, the last one
/// counts.
/// @param ids those of the vocabulary's own tokens
/// @param normal_form returns the normal form of a text
/// Errors: ec::bad_payload, with `file`, if two tokens are found alike.
core::result<token_finders> make_finders(
  const std::unordered_map<std::string, int32_t>& ids,
  const std::vector<added_token>& added,
  const std::function<std::string(std::string_view)>& normal_form,
  std::string_view file);

/// Reads an id.
/// Errors: ec::bad_payload if it is not an integer in 0..most_token_id
core::result<int32_t> parse_id(std::string_view file, std::string_view key,
                               const nlohmann::json& value);

/// The fields of an added token without its id. `normalized` is empty if the
/// file does not specify it.
struct added_token_fields {
  added_token token;
  std::optional<bool> normalized;
};

/// Reads the fields of an added token.
/// Errors: ec::bad_payload
core::result<added_token_fields> parse_added_token(std::string_view file,
                                                   std::string_view key,
                                                   const nlohmann::json& value);

} // namespace atelier::gpu::detail
