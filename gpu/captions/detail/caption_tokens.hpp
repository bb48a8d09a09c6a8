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
  /// Null for unknown words and for marks.
  const lexicon_word* word = nullptr;
  bool comma = false;
};

/// The words of a caption by index. Indices past the end match nothing.
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

  /// Returns the index after word i if that word is of this kind; otherwise i.
  size_t skip(size_t i, word_kind kind) const;
  size_t skip_article(size_t i) const;
  size_t skip_of_image(size_t i) const;

  /// Returns whether word i is "of" and an object follows.
  bool joins_object(size_t i) const;

private:
  std::vector<caption_token> all_;
};

/// The end of a background's words, the indices of its two colour words (equal
/// for a plain one) and the kind of gradient, if specified.
struct background_words {
  size_t end;
  size_t from;
  size_t to;
  std::optional<background_grade> grade;
};

/// Parses a background that begins at word i.
std::optional<background_words> background_at(const caption_tokens& in,
                                              size_t i);

/// The end of a relation's words, and the relation.
struct relation_words {
  size_t end;
  relation kind;
};

/// Parses a relation that begins at word i.
std::optional<relation_words> relation_at(const caption_tokens& in, size_t i);

} // namespace atelier::gpu::detail
