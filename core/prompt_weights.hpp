// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::core {

/// A part of a prompt whose words have one weight.
struct weighted_text {
  std::string text;
  double weight = 1;
  /// BREAK precedes the text: its words begin a new chunk.
  bool begins_chunk = false;

  friend bool operator==(const weighted_text&, const weighted_text&) = default;
};

/// The largest weight of a word, and the negative of the smallest.
inline constexpr double most_word_weight = 100;

/// Reads the weights of a prompt's words by the web UI's rules: (word) counts
/// 1.1 times as much, [word] 1.1 times less, (word:1.3) 1.3 times as much;
/// nested brackets multiply, and a bracket that is never closed reaches to the
/// end. A backslash makes a bracket plain text. BREAK ends a chunk, also inside
/// brackets, where the web UI reads it as a word.
/// Neighbours of the same weight are one text; there is at least one.
/// Takes time proportional to the prompt's length, whatever it nests.
/// @param visits receives the number of bytes and brackets looked at
/// Errors: ec::invalid_argument if a weight is no number, or a word's weight is
///         outside -most_word_weight..most_word_weight.
/// Threads: any.
/// Source: modules/prompt_parser.py of the web UI 1.9.
result<std::vector<weighted_text>> read_word_weights(
  std::string_view prompt, uint64_t* visits = nullptr);

} // namespace atelier::core
