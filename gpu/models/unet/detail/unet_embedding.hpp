// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/dense.hpp>
#include <atelier/gpu/models/layers/embeddings.hpp>
#include <atelier/gpu/models/layers/norms.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <optional>
#include <string>

namespace atelier::gpu {
struct pass_inputs;
} // namespace atelier::gpu

namespace atelier::gpu::detail {

/// Pools a context to one vector by attention.
/// Source: diffusers, models/embeddings.py, TextTimeEmbedding.
class pooled_context {
public:
  pooled_context(weights& from, const std::string& name, int64_t in,
                 int64_t out, int64_t heads);

  /// Maps [n, tokens, in] to [n, out].
  torch::Tensor operator()(const torch::Tensor& context) const;

private:
  torch::Tensor of_row(const torch::Tensor& context) const;

  int64_t heads_;
  layer_norm before_;
  torch::Tensor position_;
  linear q_;
  linear k_;
  linear v_;
  linear project_;
  layer_norm after_;
};

/// Embeds in one vector all inputs of a row except its sample and context.
class unet_embedding {
public:
  unet_embedding(weights& from, const unet_config& config);

  /// Returns [n, time_embedding_dim].
  torch::Tensor operator()(const pass_inputs& x,
                           const torch::Tensor& context) const;

private:
  unet_config config_;
  placement where_;
  embedding_layers time_;
  std::optional<linear> guidance_;
  std::optional<embedding_layers> added_;
  std::optional<pooled_context> pooled_;
};

} // namespace atelier::gpu::detail
