// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/placement.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace atelier::gpu {

/// The encoding of one text.
struct encoded_text {
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

  /// Throws c10::Error.
  encoded_text operator()(std::string_view text) const;

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

} // namespace atelier::gpu
