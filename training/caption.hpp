// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/gpu/captions/description.hpp>
#include <atelier/training/scene.hpp>

#include <compare>
#include <cstdint>
#include <string>

namespace atelier::gpu {

/// The difficulty of drawing a description; the hardest sorts last.
struct caption_difficulty {
  uint32_t objects = 0;
  /// Number of shapes, colours, sizes, textures, places, relations, the
  /// background and the direction of its grade.
  uint32_t attributes = 0;

  friend auto operator<=>(const caption_difficulty&,
                          const caption_difficulty&) = default;
};

caption_difficulty difficulty_of(const description& x);

/// Chooses the content of a caption for `what`: the order of its objects,
/// relations in place of places, and omissions. A shape is never omitted and a
/// colour seldom. The pattern of a striped or dotted object is almost never
/// omitted, so that an object not described as striped or dotted is nearly
/// always plain.
/// Threads: any, each with its own generator.
description describe(const scene& what, core::philox& from);

/// Describes everything about `what` except its relations, in its order.
description describe_all(const scene& what);

/// Puts a description into words: chooses synonyms and the order of words and
/// of the sentence, in lower case. Two descriptions that differ only in values
/// consume the same draws, so that the captions differ only in the words for
/// those values.
/// Threads: any, each with its own generator.
std::string word(const description& what, core::philox& from);

/// Puts a description into the plainest words.
std::string word_plainly(const description& what);

/// A caption and its meaning.
struct caption {
  std::string text;
  description says;
};

/// Describes `what` and puts the description into words.
caption draw_caption(const scene& what, core::philox& from);

} // namespace atelier::gpu
