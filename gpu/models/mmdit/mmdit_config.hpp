// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace atelier::gpu {

/// The validated config.json of diffusers' SD3Transformer2DModel.
struct mmdit_config {
  /// Side of the latent that the model was trained for.
  int64_t sample_size = 128;
  /// Elements of a latent's side per token.
  int64_t patch_size = 2;
  /// Channels of the input latent and of the prediction.
  int64_t channels = 16;
  int64_t layers = 18;
  int64_t heads = 18;
  int64_t head_width = 64;
  /// Width of the text's tokens.
  int64_t text_width = 4096;
  /// Width of the pooled text.
  int64_t pooled_width = 2048;
  /// Tokens per side for which positions are stored.
  int64_t most_side = 96;

  /// Returns the width of a token.
  int64_t width() const {
    return heads * head_width;
  }
};

/// Parses the text of a config.json; `file` is its location.
/// Errors: ec::bad_config: a key that requires other fields than those above
///         (qk_norm and dual_attention_layers, which SD 3.5 has), an unknown
///         key, a value out of range; the text names the file, the key and the
///         value.
/// Source:  diffusers 0.42, models/transformers/transformer_sd3.py.
core::result<mmdit_config> parse_mmdit_config(std::string_view text,
                                              const std::string& file);

} // namespace atelier::gpu
