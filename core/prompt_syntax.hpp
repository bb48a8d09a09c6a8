// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::core {

/// What the AUTOMATIC1111 web UI reads out of a prompt beside its words.
enum class prompt_mark : uint8_t {
  /// (word:1.3)
  weight,
  /// (word) and [word], of which plain text may have some too.
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

/// One mark of a prompt.
struct marked_text {
  prompt_mark what = prompt_mark::weight;
  /// As it is written, at most 80 bytes of it.
  std::string written;
  /// Its words without the mark, at most 80 bytes of them.
  std::string plain;
};

/// A prompt taken apart.
struct unmarked_prompt {
  /// Its words alone: of alternations and schedules the first ones that there
  /// are, of networks nothing.
  std::string plain;
  /// The first 16 marks in the order in which they end, and the first network.
  std::vector<marked_text> marks;
  /// How many there are.
  size_t count = 0;
};

/// Reads a prompt by the web UI's rules: a backslash takes the meaning from the
/// bracket behind it, and brackets without a partner are plain text. Takes time
/// in proportion to its length.
/// Threads: any.
/// Source: modules/prompt_parser.py and extra_networks.py of the web UI 1.9.
unmarked_prompt read_prompt_syntax(std::string_view prompt);

/// Tells whether a mark stands for syntax also where clients do not use the web
/// UI's: brackets round words alone may be plain text.
bool is_deliberate(const marked_text& x);

/// Return the sentence on a mark that stays in a prompt as plain text, and on
/// one that is left out of it.
std::string told_as_text(const marked_text& x);
std::string told_as_left_out(const marked_text& x);

} // namespace atelier::core
