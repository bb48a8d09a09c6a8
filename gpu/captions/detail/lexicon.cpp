// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/caption_words.hpp>
#include <atelier/gpu/captions/detail/lexicon.hpp>

#include <algorithm>
#include <string_view>

namespace atelier::gpu {

namespace detail {

namespace {

template <class T>
constexpr lexicon_word entry(std::string_view text, word_kind kind, T value) {
  return {text, kind, static_cast<uint8_t>(value)};
}

// The order is that of caption_words, and so of token numbers: append new
// words.
constexpr lexicon_word words[] = {
  {"a", word_kind::article},
  {"an", word_kind::article},
  {"the", word_kind::definite},
  {"and", word_kind::conjunction},
  {"at", word_kind::preposition},
  {"in", word_kind::preposition},
  {"on", word_kind::preposition},
  {"against", word_kind::preposition},
  {"with", word_kind::preposition},
  {"to", word_kind::to},
  {"of", word_kind::of},
  {"from", word_kind::from},
  {"is", word_kind::is},
  {"there", word_kind::filler},
  {"picture", word_kind::filler},
  entry("circle", word_kind::shape, object_shape::circle),
  entry("disk", word_kind::shape, object_shape::circle),
  entry("square", word_kind::shape, object_shape::square),
  entry("triangle", word_kind::shape, object_shape::triangle),
  entry("star", word_kind::shape, object_shape::star),
  entry("ring", word_kind::shape, object_shape::ring),
  entry("hoop", word_kind::shape, object_shape::ring),
  entry("cross", word_kind::shape, object_shape::cross),
  entry("plus", word_kind::shape, object_shape::cross),
  entry("diamond", word_kind::shape, object_shape::diamond),
  entry("rhombus", word_kind::shape, object_shape::diamond),
  entry("heart", word_kind::shape, object_shape::heart),
  entry("crescent", word_kind::shape, object_shape::crescent),
  entry("moon", word_kind::shape, object_shape::crescent),
  entry("hexagon", word_kind::shape, object_shape::hexagon),
  {"red", word_kind::colour},
  {"orange", word_kind::colour},
  {"yellow", word_kind::colour},
  {"green", word_kind::colour},
  {"blue", word_kind::colour},
  {"purple", word_kind::colour},
  {"violet", word_kind::colour},
  {"white", word_kind::colour},
  {"black", word_kind::colour},
  {"gray", word_kind::colour},
  {"grey", word_kind::colour},
  {"pink", word_kind::colour},
  {"brown", word_kind::colour},
  {"navy", word_kind::colour},
  {"teal", word_kind::colour},
  entry("small", word_kind::size, object_size::small),
  entry("little", word_kind::size, object_size::small),
  entry("tiny", word_kind::size, object_size::small),
  entry("large", word_kind::size, object_size::large),
  entry("big", word_kind::size, object_size::large),
  entry("huge", word_kind::size, object_size::large),
  entry("plain", word_kind::texture, object_texture::plain),
  entry("solid", word_kind::texture, object_texture::plain),
  entry("striped", word_kind::texture, object_texture::striped),
  entry("dotted", word_kind::texture, object_texture::dotted),
  entry("spotted", word_kind::texture, object_texture::dotted),
  entry("stripes", word_kind::texture_noun, object_texture::striped),
  entry("dots", word_kind::texture_noun, object_texture::dotted),
  entry("spots", word_kind::texture_noun, object_texture::dotted),
  entry("top", word_kind::row, 0),
  entry("upper", word_kind::row, 0),
  entry("bottom", word_kind::row, 2),
  entry("lower", word_kind::row, 2),
  entry("left", word_kind::column, 0),
  entry("right", word_kind::column, 2),
  {"center", word_kind::middle},
  {"centre", word_kind::middle},
  {"middle", word_kind::middle},
  {"corner", word_kind::region},
  {"side", word_kind::region},
  entry("above", word_kind::relation_word, relation::above),
  entry("over", word_kind::relation_word, relation::above),
  entry("below", word_kind::relation_word, relation::below),
  entry("under", word_kind::relation_word, relation::below),
  {"between", word_kind::between},
  {"background", word_kind::background},
  {"gradient", word_kind::gradient},
  entry("vertical", word_kind::grade, background_grade::vertical),
  entry("horizontal", word_kind::grade, background_grade::horizontal),
  {"fading", word_kind::fading},
};

template <class T>
std::optional<T> named(std::string_view word, size_t count) {
  for (auto i = size_t{0}; i < count; ++i)
    if (to_string(static_cast<T>(i)) == word)
      return static_cast<T>(i);
  return {};
}

} // namespace

std::span<const lexicon_word> lexicon() {
  return words;
}

const lexicon_word* find_word(std::string_view text) {
  const auto* it = std::ranges::find(words, text, &lexicon_word::text);
  return it == std::end(words) ? nullptr : it;
}

std::optional<object_colour> object_colour_named(std::string_view word) {
  if (word == "violet")
    return object_colour::purple;
  return named<object_colour>(word, colour_count);
}

std::optional<background_colour> background_colour_named(
  std::string_view word) {
  if (word == "grey")
    return background_colour::grey;
  return named<background_colour>(word, background_colour_count);
}

} // namespace detail

const std::vector<std::string_view>& caption_words() {
  static const auto& once = *new auto([] {
    std::vector<std::string_view> out;
    for (const auto& x : detail::words)
      out.push_back(x.text);
    return out;
  }());
  return once;
}

} // namespace atelier::gpu
