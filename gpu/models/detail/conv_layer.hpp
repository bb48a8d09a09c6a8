// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/models/weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace atelier::gpu::detail {

/// What a convolution's weights file holds beside the kernel.
enum class conv_bias : uint8_t { none, present };

/// Zeros around a picture.
struct conv_border {
  int64_t rows;
  int64_t columns;
};

/// A convolution with a square kernel. On a CPU that oneDNN computes on, its
/// weights are laid out for oneDNN once.
/// Threads: any number; it does not change.
class conv_layer {
public:
  conv_layer() = default;

  /// `weight`: [out, in, k, k]; `bias`: [out], or undefined.
  conv_layer(const torch::Tensor& weight, torch::Tensor bias);

  /// Takes `name`.weight and `name`.bias.
  static conv_layer take(weights& from, const std::string& name, int64_t out,
                         int64_t in, int64_t kernel,
                         conv_bias bias = conv_bias::present);

  /// [n, in, h, w] -> [n, out, h', w'], channels-last.
  torch::Tensor operator()(const torch::Tensor& x, conv_border border,
                           int64_t stride = 1) const;

  /// Adds the result for x, with stride 1, to `sum`, which is channels-last.
  void add_to(const torch::Tensor& sum, const torch::Tensor& x,
              conv_border border) const;

  int64_t out_channels() const {
    return out_channels_;
  }

  uint64_t bytes() const;

private:
  torch::Tensor weight_;
  torch::Tensor bias_;
  int64_t out_channels_ = 0;
  bool packed_ = false;
};

} // namespace atelier::gpu::detail
