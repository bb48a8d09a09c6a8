// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/scene_terms.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace atelier::gpu::detail {

/// The function of a word in a caption.
enum class word_kind : uint8_t {
  article,
  definite,
  conjunction,
  /// For example: at, in, on, against, with.
  preposition,
  to,
  of,
  from,
  is,
  /// Words without a meaning of their own: there, image.
  filler,
  shape,
  /// A colour of objects, of backgrounds, or of both.
  colour,
  size,
  texture,
  /// stripes, dots.
  texture_noun,
  /// top, bottom: the value is the row.
  row,
  /// left, right: the value is the column.
  column,
  middle,
  /// corner, side.
  region,
  /// above, below: the value is a relation.
  relation_word,
  between,
  background,
  gradient,
  /// vertical, horizontal: the value is a background_grade.
  grade,
  fading,
};

struct lexicon_word {
  std::string_view text;
  word_kind kind;
  /// A value of the enumeration that belongs to the kind.
  uint8_t value = 0;
};

/// Returns all words of captions.
std::span<const lexicon_word> lexicon();

/// Returns the entry of a lower-case word, or null.
const lexicon_word* find_word(std::string_view text);

std::optional<object_colour> object_colour_named(std::string_view word);
std::optional<background_colour> background_colour_named(std::string_view word);

} // namespace atelier::gpu::detail
