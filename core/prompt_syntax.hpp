// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/prompt_rules.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::core {

/// Syntax that the AUTOMATIC1111 web UI reads in a prompt.
enum class prompt_mark : uint8_t {
  /// (word:1.3)
  weight,
  /// (word) and [word], which may also occur in plain text.
  emphasis,
  /// [word|other]
  alternation,
  /// [word:other:0.5], [word:0.5] and [word::0.5]
  schedule,
  /// BREAK
  chunk,
  /// AND
  composition,
  /// <lora:name:1>, <hypernet:name:1>, <lyco:name:1>
  network,
};

/// One mark of a prompt, that is, one use of such syntax.
struct marked_text {
  prompt_mark mark = prompt_mark::weight;
  /// The mark as written, at most 80 bytes of it.
  std::string written;
  /// Its words without the mark, at most 80 bytes of them.
  std::string plain;
};

/// A prompt separated into words and marks.
struct unmarked_prompt {
  /// The prompt's words only. An alternation keeps its first alternative, a
  /// schedule its first text that is not empty, and a network nothing.
  std::string plain;
  /// The first 16 marks in the order in which they end, and the first network.
  std::vector<marked_text> marks;
  /// The number of all marks.
  size_t count = 0;
};

/// The marks that read_prompt_syntax takes out of a prompt.
enum class marks_taken : uint8_t {
  all,
  /// All but the weights of words and BREAK, which read_word_weights reads.
  all_but_weights,
};

/// Parses a prompt by the web UI's rules: a bracket after a backslash is plain
/// text, and so is a bracket without a partner. Takes time proportional to the
/// prompt's length. Marks that are not taken remain as they are written, and
/// so does a backslash before a bracket; they are not counted.
/// Threads: any.
/// Source: modules/prompt_parser.py and extra_networks.py of the web UI 1.9.
unmarked_prompt read_prompt_syntax(std::string_view prompt,
                                   marks_taken which = marks_taken::all);

/// Returns a prompt's words without the marks of its syntax.
std::string words_of(std::string_view prompt, prompt_grammar syntax);

/// Returns whether a mark sets the weight of words or ends a chunk.
constexpr bool is_weight(prompt_mark x) {
  return x == prompt_mark::weight || x == prompt_mark::emphasis
      || x == prompt_mark::chunk;
}

/// Returns whether a mark is syntax even for clients that do not use the web
/// UI's syntax. Words in parentheses may be plain text.
bool is_deliberate(const marked_text& x);

/// Return the sentence about a mark that stays in a prompt as plain text, and
/// the one about a mark that is left out.
std::string told_as_text(const marked_text& x);
std::string told_as_left_out(const marked_text& x);

} // namespace atelier::core
