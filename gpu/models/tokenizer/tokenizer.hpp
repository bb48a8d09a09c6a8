// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A prompt as input of a text encoder.
struct tokens {
  /// Exactly `length` ids: start, the prompt's tokens, end, padding.
  std::vector<int32_t> ids;
  /// Tokens of the prompt that did not fit, without start and end.
  uint32_t left_out = 0;
};

/// CLIP's byte-pair encoding, with the same ids as transformers' CLIPTokenizer
/// without ftfy.
/// Threads: any; it does not change.
class tokenizer {
public:
  /// Reads the vocabulary and the settings beside it, and an added_tokens.json,
  /// which older tokenizers have beside the vocabulary.
  /// Errors: ec::not_found, ec::io_failed, ec::bad_payload; the text names the
  ///         file, and the key or line.
  static core::result<std::shared_ptr<const tokenizer>> load(
    const tokenizer_files& from);

  virtual ~tokenizer() = default;

  /// Encodes UTF-8 to `length` ids, padded as specified by the model's config.
  /// Invalid UTF-8 counts as U+FFFD. Takes time about proportional to the
  /// prompt's length.
  /// @pre length >= 2
  virtual tokens encode(std::string_view prompt,
                        uint32_t length = 77) const = 0;

  /// Returns the ids of a text without start, end and padding.
  virtual std::vector<int32_t> ids_of(std::string_view text) const = 0;

  /// Returns the part of a text that `encode` keeps: the text itself if all of
  /// its tokens fit, otherwise the beginning of its normal form, up to the end
  /// of the last token that fits.
  /// @pre length >= 2
  virtual std::string part_kept(std::string_view prompt,
                                uint32_t length = 77) const = 0;

  /// Return the ids of the special tokens.
  virtual int32_t start_id() const = 0;
  virtual int32_t end_id() const = 0;
  virtual int32_t padding_id() const = 0;
  /// Returns one more than the largest id.
  virtual uint32_t vocabulary_size() const = 0;
  /// Returns the longest sequence allowed by the config (model_max_length), or
  /// 77 if it has no limit.
  virtual uint32_t max_length() const = 0;
};

} // namespace atelier::gpu
