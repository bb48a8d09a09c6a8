// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

namespace atelier::gpu::detail {

/// The texts that are not split when a prompt is cut into words.
inline constexpr std::string_view start_text = "<|startoftext|>";
inline constexpr std::string_view end_text = "<|endoftext|>";

/// Returns the first match of CLIP's pattern in a normal form and the text
/// after it; an empty match if none exists. A match is `start_text`,
/// `end_text`, the apostrophe and letters of an English contraction, a run of
/// letters, one number, or a run of characters that are none of these and not
/// white space.
/// Source: transformers, models/clip/tokenization_clip.py
/// @pre `text` is UTF-8
std::pair<std::string_view, std::string_view> next_match(std::string_view text);

/// Calls `f` with each word of a normal form, in order. Words are matches,
/// except that the two special texts are split into signs and letters.
/// Source: tokenizers, src/pre_tokenizers/byte_level.rs (a second pattern that
///         is applied to each match)
template <class F>
void for_each_word(std::string_view text, F&& f) {
  for (;;) {
    const auto [match, rest] = next_match(text);
    if (match.empty())
      return;
    if (match == start_text || match == end_text) {
      f(match.substr(0, 2));
      f(match.substr(2, match.size() - 4));
      f(match.substr(match.size() - 2));
    } else {
      f(match);
    }
    text = rest;
  }
}

} // namespace atelier::gpu::detail
