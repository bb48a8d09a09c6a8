// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text.hpp>
#include <atelier/gpu/models/clip/prompt_chunks.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// The encoding of one text by one encoder.
struct encoded_text {
  /// The output for one row: the states of the chunks' tokens one after
  /// another, and the pooled state of the first chunk.
  clip_text_output out;
  /// Tokens that did not fit.
  uint32_t left_out = 0;
};

/// A tokenizer and the text encoder that reads its tokens.
/// Threads: one at a time; records no autograd state.
class clip_encoder {
public:
  /// Returns null if the model has no such encoder.
  /// @param part the encoder's name, for messages
  /// Errors: ec::not_found (no tokenizer), those of the parts.
  static core::result<std::unique_ptr<clip_encoder>> load(
    const model_files& from, std::string_view part,
    const std::optional<component>& encoder,
    const std::optional<tokenizer_files>& words, const placement& where);

  /// Splits a text into chunks.
  /// Errors: those of chunk_prompt.
  core::result<chunked_prompt> split(const prompt_text& asked) const;

  /// Encodes the chunks of a text, and empty ones up to `count` chunks. Weights
  /// multiply the states of their tokens. The rule `original` then scales each
  /// chunk to the mean that it had; a chunk whose weights are all 1 stays as it
  /// is. Throws c10::Error and model_error.
  /// @param from the result of `split`
  encoded_text encode(const chunked_prompt& from, const prompt_text& asked,
                      size_t count) const;

  /// Encodes several texts at once, each to one row. Tokens that do not fit are
  /// left out. Throws c10::Error.
  clip_text_output encode_all(std::span<const std::string_view> texts) const;

  const clip_text_config& config() const {
    return encoder_->config();
  }

  uint64_t weight_bytes() const {
    return encoder_->weight_bytes();
  }

private:
  clip_encoder() = default;

  /// Returns the number of tokens of each text, with padding.
  uint32_t length() const;

  torch::Device device_{torch::kCPU};
  std::shared_ptr<const tokenizer> words_;
  std::unique_ptr<clip_text> encoder_;
};

/// A model's text encoders; those that it lacks are null.
struct text_encoders {
  std::unique_ptr<clip_encoder> first;
  std::unique_ptr<clip_encoder> second;
};

/// Loads both text encoders of a model.
/// Errors: those of clip_encoder::load.
core::result<text_encoders> load_text_encoders(const model_files& from,
                                               const placement& where);

/// Encodes a text by each of the encoders, all with the same number of chunks.
/// Throws c10::Error, and model_error with the text's name if it cannot be
/// encoded.
std::vector<encoded_text> encode_by(
  std::span<const clip_encoder* const> encoders, const prompt_text& asked);

} // namespace atelier::gpu
