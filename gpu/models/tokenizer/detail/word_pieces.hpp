// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace atelier::gpu::detail {

/// The characters of the longest word that is split; longer ones are unknown.
inline constexpr size_t most_word_characters = 100;

/// The prefix of pieces that continue a word.
inline constexpr std::string_view continues_word = "##";

/// Splits words into the longest pieces of a vocabulary, from the left. A word
/// that cannot be split completely is one unknown token.
/// Threads: any; it does not change.
/// Source: tokenizers, src/models/wordpiece/mod.rs
class word_pieces {
public:
  /// @param unknown the id of the unknown token
  word_pieces(const std::unordered_map<std::string, int32_t>& vocabulary,
              int32_t unknown);

  /// Calls `take` with the ids of a word's pieces, in order. Takes time at most
  /// proportional to the square of `most_word_characters`.
  /// @pre `word` is UTF-8 and not empty
  void split(std::string_view word,
             const std::function<void(int32_t)>& take) const;

private:
  struct text_hash {
    using is_transparent = void;

    size_t operator()(std::string_view x) const {
      return std::hash<std::string_view>{}(x);
    }
  };

  using pieces =
    std::unordered_map<std::string, int32_t, text_hash, std::equal_to<>>;

  /// The pieces that begin words, and those that continue them without their
  /// prefix.
  pieces first_;
  pieces later_;
  int32_t unknown_;
};

/// Returns the first word of a normal form and the text after it; an empty word
/// if none exists. A word is a punctuation character or a run of characters
/// that are neither punctuation nor white space.
/// Source: tokenizers, src/pre_tokenizers/bert.rs
/// @pre `text` is UTF-8
std::pair<std::string_view, std::string_view> next_bert_word(
  std::string_view text);

} // namespace atelier::gpu::detail
