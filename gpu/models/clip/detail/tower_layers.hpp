// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/layers/linear_layer.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace atelier::gpu::detail {

/// What the layers of one of CLIP's towers have in common.
struct tower_shape {
  int64_t width = 0;
  /// Width between the two matrices of a layer.
  int64_t inner = 0;
  int64_t heads = 1;
  clip_activation activation = clip_activation::quick_gelu;
  double eps = 1e-5;
};

struct tower_norm {
  torch::Tensor weight;
  torch::Tensor bias;
  double eps = 0;

  static tower_norm take(weights& from, const std::string& name,
                         const tower_shape& shape);

  torch::Tensor operator()(const torch::Tensor& x) const;
  uint64_t bytes() const;
};

/// Attention and two matrices, each after a norm and with a residual
/// connection.
/// Source: transformers, models/clip/modeling_clip.py, CLIPEncoderLayer.
struct tower_layer {
  tower_norm norm1;
  linear_layer query;
  linear_layer key;
  linear_layer value;
  linear_layer out;
  tower_norm norm2;
  linear_layer widen;
  linear_layer narrow;
  int64_t heads = 1;
  clip_activation activation = clip_activation::quick_gelu;

  static tower_layer take(weights& from, const std::string& name,
                          const tower_shape& shape);

  /// Maps [n, tokens, width] to the same shape.
  /// @param causal a token sees only earlier ones
  torch::Tensor operator()(const torch::Tensor& x, bool causal) const;
  uint64_t bytes() const;
};

} // namespace atelier::gpu::detail
