// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/detail/lexicon.hpp>
#include <atelier/gpu/captions/scene_terms.hpp>
#include <atelier/gpu/captions/scene_vocabulary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace atelier::gpu {

namespace {

using detail::word_kind;

// Adds a word to its meaning, whose first word is the plainest.
void add(std::vector<caption_word>& to, std::vector<int>& values, int value,
         std::string_view word) {
  const auto it = std::ranges::find(values, value);
  if (it == values.end()) {
    values.push_back(value);
    to.push_back({word});
  } else {
    to[static_cast<size_t>(it - values.begin())].also.push_back(word);
  }
}

std::vector<caption_word> words_of(word_kind kind) {
  std::vector<caption_word> out;
  std::vector<int> values;
  for (const auto& x : detail::lexicon())
    if (x.kind == kind)
      add(out, values, x.value, x.text);
  return out;
}

// `meaning` returns a word's colour if it is of the wanted kind.
template <class Meaning>
std::vector<caption_word> colours(Meaning meaning) {
  std::vector<caption_word> out;
  std::vector<int> values;
  for (const auto& x : detail::lexicon())
    if (x.kind == word_kind::colour)
      if (const auto colour = meaning(x.text))
        add(out, values, static_cast<int>(*colour), x.text);
  return out;
}

std::vector<caption_word> places() {
  std::vector<caption_word> out;
  for (size_t i = 0; i < place_count; ++i)
    out.push_back({to_string(static_cast<grid_place>(i))});
  for (const auto& x : detail::lexicon())
    if (x.kind == word_kind::middle && x.text != "center")
      out[static_cast<size_t>(grid_place::centre)].also.push_back(x.text);
  return out;
}

std::vector<caption_word> relations() {
  auto out = words_of(word_kind::relation_word);
  for (const auto x :
       {relation::left_of, relation::right_of, relation::between})
    out.push_back({to_string(x)});
  return out;
}

std::vector<caption_word_group> make() {
  return {
    {"shapes", "shapes", words_of(word_kind::shape)},
    {"object_colours", "colours of objects",
     colours(detail::object_colour_named)},
    {"background_colours", "colours of backgrounds",
     colours(detail::background_colour_named)},
    {"backgrounds",
     "backgrounds",
     {{"plain"}, {"vertical gradient"}, {"horizontal gradient"}}},
    {"sizes", "sizes", words_of(word_kind::size)},
    {"textures", "textures", words_of(word_kind::texture)},
    {"places", "places", places()},
    {"relations", "relations", relations()},
    {"objects", "objects in an image", {{"1"}, {"2"}, {"3"}}},
  };
}

} // namespace

std::span<const caption_word_group> scene_vocabulary() {
  static const auto& all = *new auto(make());
  return all;
}

std::string vocabulary_table() {
  std::string out = "| kind | words |\n| --- | --- |\n";
  for (const auto& group : scene_vocabulary()) {
    std::string words;
    for (const auto& x : group.words) {
      words += fmt::format("{}{}", words.empty() ? "" : ", ", x.word);
      std::string also;
      for (const auto other : x.also)
        also += fmt::format("{}{}", also.empty() ? "" : ", ", other);
      if (!also.empty())
        words += fmt::format(" ({})", also);
    }
    out += fmt::format("| {} | {} |\n", group.title, words);
  }
  return out;
}

} // namespace atelier::gpu
