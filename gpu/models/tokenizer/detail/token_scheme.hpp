// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace atelier::gpu::detail {

/// The longest sequence that files may allow.
inline constexpr uint32_t longest_sequence = 1 << 20;

/// A special token under the key by which files name it.
struct default_token {
  std::string_view key;
  std::string_view content;
};

/// What a kind of tokenizer expects of its settings.
struct token_scheme {
  /// Name of the kind, for messages.
  std::string_view model;
  /// The tokens that it needs, and their defaults.
  std::span<const default_token> tokens;
  /// Keys of the tokens at the start and at the end of a text.
  std::string_view start;
  std::string_view end;
  /// The classes by which files name it; messages name the first.
  std::span<const std::string_view> classes;
  /// The longest sequence if the files set no limit.
  uint32_t max_length;
};

/// Returns the scheme of CLIP's and of BERT's tokenizers.
const token_scheme& clip_scheme();
const token_scheme& bert_scheme();

} // namespace atelier::gpu::detail
