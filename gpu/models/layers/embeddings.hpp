// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/dense.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace atelier::gpu::detail {

/// Returns sines and cosines of each number: [n] -> [n, dim], float32.
/// Source: diffusers, models/embeddings.py, get_timestep_embedding.
torch::Tensor embed_numbers(const torch::Tensor& x, int64_t dim,
                            bool cosines_first, double freq_shift);

/// Two linear layers with SiLU between them.
/// Source: diffusers, models/embeddings.py, TimestepEmbedding.
class embedding_layers {
public:
  embedding_layers(weights& from, const std::string& name, int64_t in,
                   int64_t out);

  torch::Tensor operator()(const torch::Tensor& x) const;

private:
  linear first_;
  linear second_;
};

} // namespace atelier::gpu::detail
