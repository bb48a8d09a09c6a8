// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/scene.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// What a caption says of one object; what it leaves open is empty.
struct described_object {
  object_shape shape = object_shape::circle;
  std::optional<object_colour> colour;
  std::optional<object_size> size;
  std::optional<object_texture> texture;
  std::optional<grid_place> place;

  friend bool operator==(const described_object&,
                         const described_object&) = default;
};

/// A relation between objects of a description, by their numbers from 0.
struct described_relation {
  relation what = relation::above;
  uint8_t subject = 0;
  uint8_t first = 0;
  /// For relation::between alone, else equal to `first`.
  uint8_t second = 0;

  friend bool operator==(const described_relation&,
                         const described_relation&) = default;
};

/// What a caption says of the background.
struct described_background {
  background_colour from = background_colour::white;
  /// Equal to `from` if the background is plain.
  background_colour to = background_colour::white;
  /// Empty: graded, in a direction left open.
  std::optional<background_grade> grade = background_grade::plain;

  friend bool operator==(const described_background&,
                         const described_background&) = default;
};

/// Everything that a caption says, in the order in which it says it: what must
/// be right in a picture of it.
struct description {
  std::vector<described_object> objects;
  std::vector<described_relation> relations;
  std::optional<described_background> background;

  friend bool operator==(const description&, const description&) = default;
};

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

/// Return every word that a caption can have and that parse_caption
/// understands, once, in an order that never changes. Captions consist of
/// these, commas and single spaces.
const std::vector<std::string_view>& caption_words();

} // namespace atelier::gpu
