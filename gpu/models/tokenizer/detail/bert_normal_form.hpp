// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// What BERT's tokenizer changes in a text in addition to cleaning it.
struct bert_form {
  bool lower_case = true;
  bool strip_accents = true;
  /// Whether each Chinese character becomes a word by itself.
  bool separate_chinese = true;
};

/// Returns `text` without control characters, with each character of white
/// space replaced by a space, and changed as `form` says. Takes time
/// proportional to the length.
/// Source: tokenizers, src/normalizers/bert.rs
/// @pre `text` is UTF-8
std::string bert_normal_form(std::string_view text, const bert_form& form);

} // namespace atelier::gpu::detail
