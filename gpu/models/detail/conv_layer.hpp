// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/weights.hpp>

#include <torch/torch.h>

#include <string>

namespace atelier::gpu::detail {

/// What a convolution's weights file holds beside the kernel.
enum class conv_bias : uint8_t { none, present };

/// A convolution with a square kernel, its weights laid out once.
class conv_layer {
public:
  conv_layer() = default;

  /// Takes `name`.weight and `name`.bias.
  static conv_layer take(weights& from, const std::string& name, int64_t out,
                         int64_t in, int64_t kernel,
                         conv_bias bias = conv_bias::present);

  /// Convolves x [n, in, h, w], channels-last, with a border of
  /// `padding` zeros.
  torch::Tensor operator()(const torch::Tensor& x, int64_t padding,
                           int64_t stride = 1) const;

  uint64_t bytes() const;

private:
  torch::Tensor weight_;
  torch::Tensor bias_;
};

} // namespace atelier::gpu::detail
