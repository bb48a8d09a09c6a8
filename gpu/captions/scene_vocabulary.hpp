// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A word of captions, and others with its meaning.
struct caption_word {
  std::string_view word;
  std::vector<std::string_view> also = {};
};

/// Words of one kind.
struct caption_word_group {
  /// As programs name it: object_colours.
  std::string_view name;
  /// As people do: object colours.
  std::string_view title;
  std::vector<caption_word> words;
};

/// Return all that captions can say, made from the lexicon: shapes, colours of
/// objects and of backgrounds, backgrounds, sizes, textures, places, relations.
/// Threads: any.
std::span<const caption_word_group> scene_vocabulary();

/// Return it as a table in Markdown, a row for each group.
std::string vocabulary_table();

} // namespace atelier::gpu
