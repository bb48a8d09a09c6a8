// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/tokenizer/prompt_text.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Knows which part of a prompt a model's text encoders read, without their
/// networks.
/// Threads: any; it does not change.
class prompt_reader {
public:
  /// Errors: those of load_words and read_clip_text_config.
  static core::result<prompt_reader> load(const model_files& from);

  /// Returns a positive text without what the model ignores: phrases without a
  /// known word, marks without effect, and the tokens that do not fit. Texts
  /// with equal parts are drawn alike. Weights of words that the model uses
  /// remain as they are written.
  std::string part_read(const prompt_text& asked) const;

private:
  struct encoder {
    std::shared_ptr<const tokenizer> words;
    uint32_t length = 0;
  };

  known_words known_;
  caption_kind captions_ = caption_kind::free;
  std::vector<encoder> encoders_;
};

} // namespace atelier::gpu
