// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/judge/clip_layers.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace atelier::gpu {

/// The trainable text encoder's output for n prompts.
struct text_states {
  /// [n, tokens, hidden_size]: after the last layer and its final norm.
  torch::Tensor states;
  /// [n, hidden_size], or [n, projection_dim] with a projection: the state of
  /// the end token.
  torch::Tensor pooled;
};

/// A trainable CLIPTextModel, or CLIPTextModelWithProjection if the config has
/// a projection. named_parameters() returns the names of a published file
/// ("text_model.encoder..."), which transformers 4 and 5 and clip_text load.
/// The initial weights have the distributions of transformers.
/// Threads: one at a time.
/// Source: transformers, models/clip/modeling_clip.py.
class text_encoder_net : public torch::nn::Module {
public:
  /// Draws the initial weights from `from`; without it, torch::manual_seed
  /// determines them. They are created on the CPU in float32; `to` moves them.
  explicit text_encoder_net(const clip_text_config& config,
                            std::optional<at::Generator> from = std::nullopt);

  /// `ids`: [n, tokens], int64, on the device of the weights; at most
  /// max_position_embeddings tokens.
  text_states forward(const torch::Tensor& ids);

  const clip_text_config& config() const {
    return config_;
  }

private:
  clip_text_config config_;
  std::shared_ptr<detail::table_net> tokens_;
  std::shared_ptr<detail::table_net> positions_;
  std::vector<std::shared_ptr<detail::clip_layer_net>> layers_;
  std::shared_ptr<detail::layer_norm_net> final_norm_;
  std::shared_ptr<detail::linear_net> projection_;
};

} // namespace atelier::gpu
