// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/layers/dense.hpp>
#include <atelier/gpu/models/layers/norms.hpp>
#include <atelier/gpu/models/unet/detail/unet_attention.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Widths of one spatial transformer.
struct transformer_shape {
  int64_t width = 0;
  int64_t heads = 1;
  int64_t blocks = 1;
  bool only_cross_attention = false;
};

/// Self-attention, attention to the context, and a gated feed-forward layer.
/// Source: diffusers, models/attention.py, BasicTransformerBlock.
class transformer_block {
public:
  transformer_block(weights& from, const std::string& name,
                    const transformer_shape& shape, int64_t context_width);

  /// Adds the result to `x` [n, tokens, width].
  void add_to(const torch::Tensor& x, const pass& of) const;

private:
  void add_feed_forward(const torch::Tensor& x) const;

  layer_norm norm1_;
  std::optional<self_attention> self_;
  /// Replaces `self_` in a level that attends only to the context.
  std::optional<cross_attention> cross1_;
  layer_norm norm2_;
  cross_attention cross2_;
  layer_norm norm3_;
  gated_linear gated_;
  linear out_;
};

/// Transformer blocks over the pixels of a feature map.
/// Source: diffusers, models/transformers/transformer_2d.py.
class spatial_transformer {
public:
  spatial_transformer(weights& from, const std::string& name,
                      const transformer_shape& shape,
                      const unet_config& config);

  /// Maps [n, width, h, w] to the same shape; `x` may be overwritten.
  torch::Tensor operator()(const torch::Tensor& x, const pass& of) const;

private:
  group_norm norm_;
  linear in_;
  std::vector<transformer_block> blocks_;
  linear out_;
};

} // namespace atelier::gpu::detail
