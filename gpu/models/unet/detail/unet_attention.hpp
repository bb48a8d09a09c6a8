// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/dense.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace atelier::gpu::detail {

/// Multi-head self-attention.
/// Source: diffusers, models/attention_processor.py, AttnProcessor2_0.
class self_attention {
public:
  self_attention(weights& from, const std::string& name, int64_t width,
                 int64_t heads);

  /// Adds the result for [n, tokens, width] to `onto`, and returns `onto`.
  torch::Tensor add_to(const torch::Tensor& onto, const torch::Tensor& x) const;

private:
  int64_t heads_;
  linear qkv_;
  linear out_;
};

/// Multi-head attention to a context.
class cross_attention {
public:
  cross_attention(weights& from, const std::string& name, int64_t width,
                  int64_t heads, int64_t context_width);

  /// Returns the keys and values that every query attends to: [n, tokens,
  /// context_width] -> [n, tokens, 2 * width], keys before values.
  torch::Tensor keys_values(const torch::Tensor& context) const;

  /// Adds the result for [n, tokens, width] to `onto`, and returns `onto`.
  torch::Tensor add_to(const torch::Tensor& onto, const torch::Tensor& x,
                       const torch::Tensor& keys_values) const;

private:
  int64_t heads_;
  linear q_;
  linear kv_;
  linear out_;
};

} // namespace atelier::gpu::detail
