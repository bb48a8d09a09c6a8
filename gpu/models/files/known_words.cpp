// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/edit_distance.hpp>
#include <atelier/gpu/models/files/known_words.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/word_characters.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>

namespace atelier::gpu {

namespace {

using detail::is_letter;
using detail::lower;

// Unknown words with a note of their own, and known words in a note.
constexpr size_t most_named = 6;
constexpr size_t most_listed = 40;
// Unknown words that are distinguished; a model reads far fewer.
constexpr size_t most_told = 1024;

// Calls `take` with each run of characters for which `belongs` returns true.
template <class Belongs, class Take>
void each_run(std::string_view text, Belongs belongs, Take take) {
  for (auto at = text.begin(); at != text.end();) {
    const auto first = std::find_if(at, text.end(), belongs);
    at = std::find_if_not(first, text.end(), belongs);
    if (first != at)
      take(text.substr(static_cast<size_t>(first - text.begin()),
                       static_cast<size_t>(at - first)));
  }
}

} // namespace

known_words::known_words(std::string_view text) {
  const auto is_word = [](char c) {
    return c != ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  std::set<std::string_view> seen;
  each_run(text, is_word, [&](std::string_view word) {
    if (seen.insert(word).second)
      words_.emplace_back(word);
  });
  sorted_ = words_;
  std::ranges::sort(sorted_);
}

bool known_words::knows(std::string_view word) const {
  return std::ranges::binary_search(sorted_, word, std::less<>{});
}

std::vector<std::string> known_words::unknown_in(
  std::string_view prompt) const {
  std::vector<std::string> out;
  if (words_.empty())
    return out;
  std::set<std::string_view> seen;
  each_run(prompt, is_letter, [&](std::string_view word) {
    if (out.size() < most_told && !knows(lower(word))
        && seen.insert(word).second)
      out.emplace_back(word);
  });
  return out;
}

std::string known_words::known_phrases_of(std::string_view prompt,
                                          with words) const {
  std::string out;
  bool all = true;
  const auto is_part = [](char c) { return c != ','; };
  each_run(prompt, is_part, [&](std::string_view phrase) {
    size_t known = 0;
    size_t unknown = 0;
    each_run(phrase, is_letter, [&](std::string_view word) {
      ++(words_.empty() || knows(lower(word)) ? known : unknown);
    });
    if (unknown > 0 && (known == 0 || words == with::all_known)) {
      all = false;
      return;
    }
    if (out.empty())
      phrase.remove_prefix(
        std::min(phrase.find_first_not_of(" \t\r\n"), phrase.size()));
    else
      out += ',';
    out += phrase;
  });
  return all ? std::string{prompt} : out;
}

std::string known_words::nearest_to(std::string_view word) const {
  constexpr size_t longest = 24;
  if (word.size() < 3 || word.size() > longest)
    return {};
  const auto small = lower(word);
  auto best = small.size() < 6 ? size_t{1} : size_t{2};
  std::string found;
  for (const auto& x : words_) {
    // The difference in length already excludes most words.
    if (x.size() < 3 || x.size() + best < small.size()
        || small.size() + best < x.size())
      continue;
    const auto far = core::edit_distance(small, x);
    if (far < best || (far == best && found.empty())) {
      best = far;
      found = x;
    }
  }
  return found;
}

std::vector<core::note> known_words::notes_on(std::string_view prompt) const {
  using core::note_code;
  std::vector<core::note> out;
  const auto unknown = unknown_in(prompt);
  const auto listed =
    std::span{words_}.first(std::min(words_.size(), most_listed));
  for (size_t i = 0; i < std::min(unknown.size(), most_named); ++i) {
    const auto shown =
      detail::printable(std::string_view{unknown[i]}.substr(0, 64));
    const auto like = nearest_to(unknown[i]);
    out.push_back(
      {note_code::unknown_word,
       like.empty()
         ? fmt::format("the model does not know '{}'; it knows: {}{}", shown,
                       fmt::join(listed, " "),
                       listed.size() < words_.size() ? " ..." : "")
         : fmt::format("the model does not know '{}': use '{}'", shown, like)});
  }
  if (unknown.size() > most_named)
    out.push_back({note_code::unknown_word,
                   fmt::format("the model does not know {} more words of it",
                               unknown.size() - most_named)});
  return out;
}

std::string known_words::text() const {
  return words_.empty() ? std::string{}
                        : fmt::format("{}\n", fmt::join(words_, "\n"));
}

} // namespace atelier::gpu
