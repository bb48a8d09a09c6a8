// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/gpu/captions/description.hpp>
#include <atelier/training/scene.hpp>

#include <compare>
#include <cstdint>
#include <string>

namespace atelier::gpu {

/// How hard a description is to draw, hardest last.
struct caption_difficulty {
  uint32_t objects = 0;
  /// Shapes, colours, sizes, textures, places, relations, the background and
  /// the direction of its grade.
  uint32_t attributes = 0;

  friend auto operator<=>(const caption_difficulty&,
                          const caption_difficulty&) = default;
};

caption_difficulty difficulty_of(const description& x);

/// Choose what a caption says of `what`: the order of its objects, relations
/// instead of places, and what is left unsaid: never a shape, seldom a colour,
/// the pattern of a striped or dotted object almost never, so that what nobody
/// calls striped or dotted is nearly always plain.
/// Threads: any, each with its own generator.
description describe(const scene& what, core::philox& from);

/// Say everything there is to say of `what` but its relations, in its order.
description describe_all(const scene& what);

/// Put a description into words: synonyms, order of words and of sentence, in
/// lower case. For two descriptions that differ in values alone the same
/// draws are taken, so that the captions differ in the words for those values.
/// Threads: any, each with its own generator.
std::string word(const description& what, core::philox& from);

/// Put a description into the plainest words.
std::string word_plainly(const description& what);

/// A caption, and what it says.
struct caption {
  std::string text;
  description says;
};

/// Describe `what` and put it into words.
caption draw_caption(const scene& what, core::philox& from);

} // namespace atelier::gpu
