// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>
#include <atelier/gpu/models/tokenizer/detail/token_scheme.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// A tokenizer's settings in addition to its vocabulary.
struct tokenizer_settings {
  std::string start;
  std::string end;
  std::string padding;
  /// The token for a byte, or a word, that has none.
  std::string unknown;
  uint32_t max_length = 0;
  /// Added tokens in the order in which they are added. If two have the same
  /// text, the later one is used.
  std::vector<added_token> added;
};

/// The sources of the settings. The texts may be empty; the names are those of
/// their files, for messages.
struct settings_source {
  std::string_view config;
  std::string config_name;
  std::string_view special_tokens;
  std::string special_tokens_name;
  /// From added_tokens.json; the settings determine whether they are special.
  std::vector<added_token> legacy_added;
  std::string legacy_name;
  /// File of `vocabulary::added`.
  std::string vocabulary_name;
};

/// Determines the settings as `from_pretrained` of the scheme's class in
/// transformers does.
/// Every special token, and every added one with its id, must have a place in
/// the vocabulary or directly after it.
/// Errors: ec::bad_payload; the text names the file and the key
/// Source: transformers, tokenization_utils_base.py and
///         tokenization_utils_tokenizers.py
core::result<tokenizer_settings> read_settings(const settings_source& from,
                                               const vocabulary& words,
                                               const token_scheme& scheme);

} // namespace atelier::gpu::detail
