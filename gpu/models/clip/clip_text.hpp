// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

/// A text encoder's output for n prompts. The layer `clip_skip` counts from the
/// last.
struct clip_text_output {
  /// [n, tokens, hidden_size]: hidden_states[-clip_skip] after the final norm;
  /// for 1, transformers' last_hidden_state.
  torch::Tensor last;
  /// [n, tokens, hidden_size]: hidden_states[-max(clip_skip, 2)] without the
  /// final norm, as SDXL uses it.
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
  /// Throws model_error (ec::invalid_argument) if `clip_skip` is not 1 and more
  /// than the number of layers.
  clip_text_output forward(const torch::Tensor& ids,
                           uint32_t clip_skip = 1) const;

  const clip_text_config& config() const;
  uint64_t weight_bytes() const;

private:
  struct impl;
  explicit clip_text(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
