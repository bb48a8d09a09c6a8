// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Classes of code points as BERT's tokenizer in transformers sees them. It
/// takes them from Unicode 8.0 (Rust's crate unicode_categories), whatever
/// version ICU has.
namespace atelier::gpu::detail {

/// Returns whether cleaning removes the code point: a control, format or
/// private character, except tab, line feed and carriage return; U+FFFD; NUL.
bool is_removed_by_bert(char32_t c);

/// Returns whether the code point is a mark that takes no space (Mn), which
/// stripping accents removes.
bool is_accent(char32_t c);

/// Returns whether the code point is a word by itself: punctuation, or one of
/// ASCII's symbols.
bool is_bert_punctuation(char32_t c);

/// Returns whether the code point is a Chinese character, which BERT surrounds
/// by spaces.
bool is_chinese(char32_t c);

} // namespace atelier::gpu::detail
