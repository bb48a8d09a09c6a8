// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/dense.hpp>
#include <atelier/gpu/models/layers/norms.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Two convolutions conditioned on the timestep, with a shortcut.
/// Source: diffusers, models/resnet.py, ResnetBlock2D.
class resnet_block {
public:
  /// @param in channels of the input's one or two parts
  /// @param scale divisor of the result
  resnet_block(weights& from, const std::string& name,
               const std::vector<int64_t>& in, int64_t out,
               const unet_config& config, double scale = 1);

  /// Maps [n, in, h, w] to [n, out, h, w].
  /// `time`: [n, time_embedding_dim], after SiLU.
  /// `skip`: if defined, the second part of the input.
  torch::Tensor operator()(const torch::Tensor& x, const torch::Tensor& skip,
                           const torch::Tensor& time) const;

private:
  group_norm norm1_;
  conv conv1_;
  linear time_;
  group_norm norm2_;
  conv conv2_;
  bool has_shortcut_;
  bool scale_shift_;
  double scale_;
};

} // namespace atelier::gpu::detail
