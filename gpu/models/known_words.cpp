// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/printable.hpp>
#include <atelier/gpu/models/detail/word_characters.hpp>
#include <atelier/gpu/models/known_words.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace atelier::gpu {

namespace {

using detail::is_letter;
using detail::lower;

// Of the unknown words that a note names, and of the known ones.
constexpr size_t most_named = 8;
constexpr size_t most_listed = 200;

// Calls `take` with each run of characters that `belongs` says yes to.
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

bool contains(const std::vector<std::string>& all, std::string_view x) {
  return std::ranges::find(all, x) != all.end();
}

} // namespace

known_words::known_words(std::string_view text) {
  const auto is_word = [](char c) {
    return c != ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  each_run(text, is_word, [&](std::string_view word) {
    if (!contains(words_, word))
      words_.emplace_back(word);
  });
}

std::vector<std::string> known_words::unknown_in(
  std::string_view prompt) const {
  std::vector<std::string> out;
  if (words_.empty())
    return out;
  each_run(prompt, is_letter, [&](std::string_view word) {
    if (!contains(words_, lower(word)) && !contains(out, word))
      out.emplace_back(word);
  });
  return out;
}

std::string known_words::note_on(std::string_view prompt) const {
  const auto unknown = unknown_in(prompt);
  if (unknown.empty())
    return {};
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(unknown.size(), most_named); ++i)
    named.push_back(fmt::format("'{}'", detail::printable(unknown[i])));
  auto out = fmt::format("the model does not know {}", fmt::join(named, ", "));
  if (unknown.size() > most_named)
    out += fmt::format(" and {} more words", unknown.size() - most_named);
  const auto listed =
    std::span{words_}.first(std::min(words_.size(), most_listed));
  return out
       + fmt::format("; it knows: {}{}", fmt::join(listed, " "),
                     listed.size() < words_.size() ? " ..." : "");
}

std::string known_words::text() const {
  return words_.empty() ? std::string{}
                        : fmt::format("{}\n", fmt::join(words_, "\n"));
}

} // namespace atelier::gpu
