// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A word of captions, with its synonyms.
struct caption_word {
  std::string_view word;
  std::vector<std::string_view> also = {};
};

/// Words of one kind.
struct caption_word_group {
  /// The identifier that programs use, such as object_colours.
  std::string_view name;
  /// The title for readers, such as object colours.
  std::string_view title;
  std::vector<caption_word> words;
};

/// Returns everything that captions can express, built from the lexicon:
/// shapes, colours of objects and of backgrounds, backgrounds, sizes, textures,
/// places and relations.
/// Threads: any.
std::span<const caption_word_group> scene_vocabulary();

/// Returns the vocabulary as a Markdown table with one row per group.
std::string vocabulary_table();

} // namespace atelier::gpu
