// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/description.hpp>
#include <atelier/gpu/captions/detail/lexicon.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// A word, or a mark that ends a clause.
struct caption_token {
  /// As written, for messages.
  std::string text;
  /// Null for an unknown word, and for marks.
  const lexicon_word* word = nullptr;
  bool comma = false;
};

/// The words of a caption, by their numbers; what is beyond the last one is
/// nothing.
class caption_tokens {
public:
  explicit caption_tokens(std::string_view text);

  size_t size() const {
    return all_.size();
  }

  const caption_token& operator[](size_t i) const {
    return all_[i];
  }

  const lexicon_word* word_at(size_t i) const;
  bool is(size_t i, word_kind kind) const;
  bool is_text(size_t i, std::string_view text) const;

  /// Return the number of the next word where one of that kind stands; else i.
  size_t skip(size_t i, word_kind kind) const;
  size_t skip_article(size_t i) const;
  size_t skip_of_picture(size_t i) const;

  /// Returns whether "of" stands there and an object follows.
  bool joins_object(size_t i) const;

private:
  std::vector<caption_token> all_;
};

/// Where the words of a background end, the numbers of its two colours' words
/// (the same of a plain one) and how it changes, where that is said.
struct background_words {
  size_t end;
  size_t from;
  size_t to;
  std::optional<background_grade> grade;
};

/// Reads a background that begins with word i.
std::optional<background_words> background_at(const caption_tokens& in,
                                              size_t i);

/// Where the words of a relation end, and which it is.
struct relation_words {
  size_t end;
  relation what;
};

/// Reads a relation that begins with word i.
std::optional<relation_words> relation_at(const caption_tokens& in, size_t i);

} // namespace atelier::gpu::detail
