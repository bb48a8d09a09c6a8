// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/layers/detail/dense.hpp>
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Normalises tokens, then scales and shifts them by what the pass says of
/// their place.
class modulation {
public:
  /// `parts`: vectors of one width that the pass's embedding is turned to.
  modulation(weights& from, const std::string& name, int64_t width,
             int64_t parts);

  /// Returns the vectors, [places, 1, width] each.
  std::vector<torch::Tensor> of(const pass& x) const;

private:
  int64_t parts_;
  linear linear_;
};

/// x [places, tokens, width] -> normalised, * (1 + scale) + shift.
torch::Tensor modulated(const torch::Tensor& x, const torch::Tensor& scale,
                        const torch::Tensor& shift);

/// Two layers with GELU's approximation by tanh between them.
class feed_forward {
public:
  feed_forward(weights& from, const std::string& name, int64_t width);

  torch::Tensor operator()(const torch::Tensor& x) const;

private:
  linear first_;
  linear second_;
};

/// Attention of the tokens of image and text to each other, and a feed-forward
/// layer for each. The last block of a model leaves the text as it is.
/// Source: diffusers 0.42, models/attention.py, JointTransformerBlock.
class joint_block {
public:
  joint_block(weights& from, const std::string& name,
              const mmdit_config& config, bool last);

  void operator()(const pass& of, activations& state) const;

private:
  /// The queries, keys and values of one of both.
  struct projections {
    linear q;
    linear k;
    linear v;
  };

  int64_t heads_;
  modulation image_;
  modulation text_;
  projections of_image_;
  projections of_text_;
  linear out_image_;
  feed_forward ff_image_;
  /// Not in the last block.
  std::optional<linear> out_text_;
  std::optional<feed_forward> ff_text_;
};

} // namespace atelier::gpu::detail
