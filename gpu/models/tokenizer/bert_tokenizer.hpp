// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// BERT's word pieces, with the same ids as transformers' BertTokenizer.
/// Threads: any; it does not change.
class bert_tokenizer {
public:
  /// Reads tokenizer.json, or vocab.txt (`from.vocab`), and the settings beside
  /// it.
  /// Errors: ec::not_found, ec::io_failed, ec::bad_payload; the text names the
  ///         file, and the key or line.
  static core::result<std::shared_ptr<const bert_tokenizer>> load(
    const tokenizer_files& from);

  virtual ~bert_tokenizer() = default;

  /// Encodes UTF-8 to at most `most` ids: the start token, the text's tokens
  /// and the end token, without padding. Tokens that do not fit are left out.
  /// Invalid UTF-8 counts as U+FFFD, which is removed. Takes time proportional
  /// to the text's length.
  /// @pre most >= 2
  virtual std::vector<int32_t> encode(std::string_view text,
                                      uint32_t most) const = 0;

  /// Returns the id that fills places without a token.
  virtual int32_t padding_id() const = 0;
  /// Returns one more than the largest id.
  virtual uint32_t vocabulary_size() const = 0;
  /// Returns the longest sequence allowed by the config (model_max_length), or
  /// 2^20 if it has no limit.
  virtual uint32_t max_length() const = 0;
};

} // namespace atelier::gpu
