// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/judge/layers.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu::detail {

/// Widths of one layer of a CLIP tower.
struct clip_layer_shape {
  int64_t width = 0;
  int64_t inner = 0;
  int64_t heads = 1;
  /// Number of layers of the tower; the initial weights shrink with it.
  int64_t layers = 1;
  clip_activation activation = clip_activation::gelu;
  double eps = 1e-5;
  /// Whether a token sees only earlier ones.
  bool causal = false;
};

/// Attention and two matrices, each after a norm and with a residual
/// connection.
/// Source: transformers, models/clip/modeling_clip.py, CLIPEncoderLayer.
class clip_layer_net : public torch::nn::Module {
public:
  clip_layer_net(const clip_layer_shape& shape, const first_weights& from);

  /// Maps [n, tokens, width] to the same shape.
  torch::Tensor operator()(const torch::Tensor& x) const;

private:
  clip_layer_shape shape_;
  std::shared_ptr<layer_norm_net> norm1_;
  std::shared_ptr<linear_net> query_;
  std::shared_ptr<linear_net> key_;
  std::shared_ptr<linear_net> value_;
  std::shared_ptr<linear_net> out_;
  std::shared_ptr<layer_norm_net> norm2_;
  std::shared_ptr<linear_net> widen_;
  std::shared_ptr<linear_net> narrow_;
};

} // namespace atelier::gpu::detail
