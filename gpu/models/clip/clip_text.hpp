// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/placement.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

/// A text encoder's output for n prompts.
struct clip_text_output {
  /// [n, tokens, hidden_size]: after the last layer and its final norm
  /// (transformers' last_hidden_state).
  torch::Tensor last;
  /// [n, tokens, hidden_size]: before the last layer, without the final norm
  /// (hidden_states[-2]), as SDXL uses it.
  torch::Tensor penultimate;
  /// [n, hidden_size], or [n, projection_dim] with a projection
  /// (pooler_output or text_embeds).
  torch::Tensor pooled;
};

/// The CLIPTextModel and CLIPTextModelWithProjection of transformers.
/// Threads: one at a time; records no autograd state.
class clip_text {
public:
  /// Errors: as unet::load.
  static core::result<std::unique_ptr<clip_text>> load(const component& from,
                                                       const placement& where);

  ~clip_text();
  clip_text(const clip_text&) = delete;
  clip_text& operator=(const clip_text&) = delete;

  /// `ids`: [n, tokens], int64; at most max_position_embeddings tokens.
  clip_text_output forward(const torch::Tensor& ids) const;

  const clip_text_config& config() const;
  uint64_t weight_bytes() const;

private:
  struct impl;
  explicit clip_text(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
