// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/tokenizer/detail/bert_normal_form.hpp>
#include <atelier/gpu/models/tokenizer/detail/tokenizer_settings.hpp>
#include <atelier/gpu/models/tokenizer/detail/vocabulary_file.hpp>

namespace atelier::gpu::detail {

/// All that a folder says of BERT's tokenizer.
struct bert_words {
  vocabulary words;
  tokenizer_settings tokens;
  bert_form form;
};

/// Reads tokenizer.json, or vocab.txt with one token in each line, and the
/// settings beside it. As in transformers, tokenizer_config.json decides on
/// lower case, accents and Chinese characters, whatever tokenizer.json says.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload; the text names the
///         file, and the key or line.
/// Source: transformers, models/bert/tokenization_bert.py
core::result<bert_words> read_bert_words(const tokenizer_files& from);

} // namespace atelier::gpu::detail
