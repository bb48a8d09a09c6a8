// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>
#include <atelier/gpu/models/tokenizer/detail/token_scheme.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>

#include <cstdint>
#include <string>
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

/// Returns the location of a tokenizer's tokenizer_config.json, for messages.
std::string config_name_of(const tokenizer_files& from);

/// Determines the settings as `from_pretrained` of the scheme's class in
/// transformers does.
/// Every special token, and every added one with its id, must have a place in
/// the vocabulary or directly after it.
/// Errors: ec::io_failed, ec::bad_payload; the text names the file and the key
/// Source: transformers, tokenization_utils_base.py and
///         tokenization_utils_tokenizers.py
core::result<tokenizer_settings> read_settings(const tokenizer_files& from,
                                               const vocabulary& words,
                                               const token_scheme& scheme);

} // namespace atelier::gpu::detail
