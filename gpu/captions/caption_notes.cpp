// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/edit_distance.hpp>
#include <atelier/gpu/captions/caption_notes.hpp>
#include <atelier/gpu/captions/detail/lexicon.hpp>
#include <atelier/gpu/captions/palette.hpp>
#include <atelier/gpu/captions/parse_caption.hpp>
#include <atelier/gpu/captions/scene_vocabulary.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/word_characters.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace atelier::gpu {

namespace {

using core::note;
using core::note_code;

// A model reads far less.
constexpr size_t most_read_bytes = 4096;
constexpr size_t most_named = 6;
constexpr size_t most_remarks = 4;

// Words that people use, with the nearest words of captions: for colours, one
// on an object and one of the background.
struct near_word {
  std::string_view word;
  std::string_view instead;
  std::string_view behind = {};
};

constexpr std::array near_words = std::to_array<near_word>({
  {"cyan", "blue", "teal"},
  {"turquoise", "blue", "teal"},
  {"aqua", "blue", "teal"},
  {"azure", "blue", "teal"},
  {"indigo", "purple", "navy"},
  {"magenta", "purple", "pink"},
  {"fuchsia", "purple", "pink"},
  {"lilac", "purple", "pink"},
  {"lavender", "purple", "pink"},
  {"rose", "red", "pink"},
  {"crimson", "red", "brown"},
  {"scarlet", "red", "brown"},
  {"maroon", "red", "brown"},
  {"burgundy", "red", "brown"},
  {"salmon", "orange", "pink"},
  {"coral", "orange", "pink"},
  {"amber", "orange", "brown"},
  {"bronze", "orange", "brown"},
  {"tan", "orange", "brown"},
  {"beige", "white", "white"},
  {"cream", "white", "white"},
  {"ivory", "white", "white"},
  {"gold", "yellow", "brown"},
  {"golden", "yellow", "brown"},
  {"lime", "green", "teal"},
  {"olive", "green", "brown"},
  {"emerald", "green", "teal"},
  {"mint", "green", "teal"},
  {"silver", "white", "gray"},
  {"charcoal", "black", "black"},
  {"oval", "circle"},
  {"ellipse", "circle"},
  {"ball", "circle"},
  {"sphere", "circle"},
  {"disc", "circle"},
  {"dot", "circle"},
  {"sun", "circle"},
  {"box", "square"},
  {"rectangle", "square"},
  {"cube", "square"},
  {"block", "square"},
  {"pyramid", "triangle"},
  {"cone", "triangle"},
  {"donut", "ring"},
  {"doughnut", "ring"},
  {"torus", "ring"},
  {"crucifix", "cross"},
  {"lozenge", "diamond"},
  {"kite", "diamond"},
  {"love", "heart"},
  {"polygon", "hexagon"},
  {"pentagon", "hexagon"},
  {"octagon", "hexagon"},
  {"giant", "large"},
  {"enormous", "large"},
  {"massive", "large"},
  {"miniature", "small"},
  {"mini", "small"},
  {"stripy", "striped"},
  {"lined", "striped"},
  {"polka", "dotted"},
  {"spotty", "dotted"},
  {"checkered", "striped"},
  {"beneath", "below"},
  {"underneath", "below"},
  {"atop", "above"},
  {"beside", "left of"},
  {"next", "left of"},
  {"near", "left of"},
  {"photo", "picture"},
  {"image", "picture"},
  {"drawing", "picture"},
  {"painting", "picture"},
});

// Numbers of objects, which captions do not have.
constexpr std::array<std::string_view, 10> counts{
  "two", "three", "four", "2", "3", "4", "pair", "both", "several", "many"};

std::string list(std::span<const caption_word> words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += fmt::format("{}{}",
                       i == 0                  ? ""
                       : i + 1 == words.size() ? " and "
                                               : ", ",
                       words[i].word);
  return out;
}

std::span<const caption_word> group(std::string_view name) {
  const auto all = scene_vocabulary();
  return std::ranges::find(all, name, &caption_word_group::name)->words;
}

// Returns "circles" and "crosses" without their ending.
std::string_view singular_of(std::string_view word) {
  for (const std::string_view ending : {"es", "s"})
    if (word.ends_with(ending)) {
      const auto stem = word.substr(0, word.size() - ending.size());
      const auto* const found = detail::find_word(stem);
      if (found != nullptr && found->kind == detail::word_kind::shape)
        return stem;
    }
  return {};
}

// Returns the word of the lexicon that a misspelt word is near.
std::string_view spelt_like(std::string_view word) {
  constexpr size_t longest = 24;
  if (word.size() < 3 || word.size() > longest)
    return {};
  auto best = word.size() < 6 ? size_t{1} : size_t{2};
  std::string_view found;
  for (const auto& x : detail::lexicon()) {
    if (x.text.size() < 3)
      continue;
    const auto far = core::edit_distance(word, x.text);
    if (far < best || (far == best && found.empty())) {
      best = far;
      found = x.text;
    }
  }
  return found;
}

std::string lower_printable(std::string_view word) {
  return detail::lower(detail::printable(word));
}

// Returns the most similar colour of the other kind.
template <class From, class To>
std::string_view nearest_colour(From from, size_t count) {
  const auto wanted = to_lab(colour_of(from));
  auto best = std::numeric_limits<float>::max();
  To found{};
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<To>(i);
    const auto far = distance(wanted, to_lab(colour_of(x)));
    if (far < best) {
      best = far;
      found = x;
    }
  }
  return to_string(found);
}

note note_of(const misplaced_colour& x) {
  const auto word = detail::lower(x.word);
  if (x.on_object) {
    const auto own = detail::background_colour_named(word);
    const auto instead =
      own ? nearest_colour<background_colour, object_colour>(*own, colour_count)
          : std::string_view{};
    return {note_code::background_colour_only,
            fmt::format("'{}' is a colour of backgrounds only: use '{}'; "
                        "objects are {}",
                        x.word, instead, list(group("object_colours")))};
  }
  const auto own = detail::object_colour_named(word);
  const auto instead = own ? nearest_colour<object_colour, background_colour>(
                         *own, background_colour_count)
                           : std::string_view{};
  return {note_code::object_colour_only,
          fmt::format("'{}' is a colour of objects only: use '{}'; "
                      "backgrounds are {}",
                      x.word, instead, list(group("background_colours")))};
}

note note_on(std::string_view word) {
  const auto instead = word_instead_of(word);
  const auto shown = detail::printable(word.substr(0, 64));
  if (!instead.empty())
    return {note_code::unknown_word,
            fmt::format("the model does not know '{}': {}", shown, instead)};
  return {note_code::unknown_word,
          fmt::format("the model does not know '{}' and cannot draw it: "
                      "its shapes are {}",
                      shown, list(group("shapes")))};
}

// Returns notes on objects that lie side by side or in one place.
std::vector<note> notes_on_places(const description& says) {
  std::vector<note> out;
  for (auto a = says.objects.begin(); a != says.objects.end(); ++a)
    for (auto b = a + 1; b != says.objects.end(); ++b) {
      if (!a->place || !b->place)
        continue;
      if (*a->place == *b->place)
        out.push_back({note_code::not_drawable,
                       fmt::format("two objects are in one place, '{}': the "
                                   "model draws one object in each",
                                   to_string(*a->place))});
      else if (share_a_side(*a->place, *b->place))
        out.push_back(
          {note_code::not_drawable,
           fmt::format("'{}' is beside '{}': of two objects whose places are "
                       "side by side the model often leaves one out, or "
                       "draws it elsewhere",
                       to_string(*a->place), to_string(*b->place))});
    }
  return out;
}

// Adds the possible values to a remark that does not list them.
std::string completed(const std::string& remark) {
  return remark == no_shape_remark
         ? fmt::format("{}: shapes are {}", remark, list(group("shapes")))
         : remark;
}

} // namespace

std::string word_instead_of(std::string_view word) {
  const auto small = lower_printable(word.substr(0, 64));
  if (const auto* const it =
        std::ranges::find(near_words, small, &near_word::word);
      it != near_words.end())
    return it->behind.empty() || it->behind == it->instead
           ? fmt::format("use '{}'", it->instead)
           : fmt::format("use '{}' on an object, '{}' behind it", it->instead,
                         it->behind);
  if (std::ranges::find(counts, small) != counts.end())
    return "name each object, as in 'a red circle and a blue star', 3 at most";
  if (const auto one = singular_of(small); !one.empty())
    return fmt::format("name each object, as in 'a {}'", one);
  if (const auto like = spelt_like(small); !like.empty())
    return fmt::format("use '{}'", like);
  return {};
}

std::vector<note> caption_notes(std::string_view prompt) {
  const auto read = parse_caption(prompt.substr(0, most_read_bytes));
  std::vector<note> out;
  const auto& unknown = read.unknown_words;
  for (size_t i = 0; i < std::min(unknown.size(), most_named); ++i)
    out.push_back(note_on(unknown[i]));
  if (unknown.size() > most_named)
    out.push_back({note_code::unknown_word,
                   fmt::format("the model does not know {} more words of it",
                               unknown.size() - most_named)});
  for (size_t i = 0; i < std::min(read.misplaced.size(), most_named); ++i)
    out.push_back(note_of(read.misplaced[i]));
  // A text without letters gets no remarks.
  const auto says_something = std::ranges::any_of(prompt, detail::is_letter);
  for (size_t i = 0;
       says_something && i < std::min(read.remarks.size(), most_remarks); ++i)
    out.push_back({note_code::not_drawable, completed(read.remarks[i])});
  for (auto& x : notes_on_places(read.says))
    out.push_back(std::move(x));
  if (out.size() > core::most_notes)
    out.resize(core::most_notes);
  return out;
}

} // namespace atelier::gpu
