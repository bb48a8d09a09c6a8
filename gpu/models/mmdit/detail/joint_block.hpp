// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/layers/dense.hpp>
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Normalises tokens, then scales and shifts them depending on the pass's
/// embedding of their place.
class modulation {
public:
  /// @param parts number of vectors of one width computed from the embedding
  modulation(weights& from, const std::string& name, int64_t width,
             int64_t parts);

  /// Returns the vectors, [places, 1, width] each.
  std::vector<torch::Tensor> of(const pass& x) const;

private:
  int64_t parts_;
  linear linear_;
};

/// Normalises x [places, tokens, width] and returns it * (1 + scale) + shift.
torch::Tensor modulated(const torch::Tensor& x, const torch::Tensor& scale,
                        const torch::Tensor& shift);

/// Two layers with the tanh approximation of GELU between them.
class feed_forward {
public:
  feed_forward(weights& from, const std::string& name, int64_t width);

  torch::Tensor operator()(const torch::Tensor& x) const;

private:
  linear first_;
  linear second_;
};

/// Joint attention of the tokens of image and text, and a feed-forward layer
/// for each. The last block of a model does not change the text.
/// Source: diffusers 0.42, models/attention.py, JointTransformerBlock.
class joint_block {
public:
  joint_block(weights& from, const std::string& name,
              const mmdit_config& config, bool last);

  void operator()(const pass& of, activations& state) const;

private:
  /// The queries, keys and values of the image or the text.
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
  /// Empty in the last block.
  std::optional<linear> out_text_;
  std::optional<feed_forward> ff_text_;
};

} // namespace atelier::gpu::detail
