// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/enum_count.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace atelier::core {

/// How a prompt's brackets are read.
enum class prompt_grammar : uint8_t {
  /// Literally, like any other character.
  plain,
  /// The web UI's syntax: weights of words, BREAK, and prompts of any length in
  /// chunks.
  webui,
};

inline constexpr std::array<std::string_view, enum_count<prompt_grammar>>
  prompt_grammar_names = {"plain", "webui"};

/// How the weights of a prompt's words act on the encoded text.
enum class emphasis_rule : uint8_t {
  /// Weights multiply the encoded words; then each chunk is scaled to the mean
  /// that it had before.
  original,
  /// Weights multiply the encoded words, and nothing else is done.
  no_norm,
  /// Weights are read, and all of them count as 1.
  ignore,
  /// Weights are not read; only the chunks of a long prompt remain.
  off,
};

inline constexpr std::array<std::string_view, enum_count<emphasis_rule>>
  emphasis_rule_names = {"original", "no_norm", "ignore", "off"};

/// The web UI's words for them.
inline constexpr std::array<std::string_view, enum_count<emphasis_rule>>
  emphasis_rule_webui_names = {"Original", "No norm", "Ignore", "None"};

} // namespace atelier::core
