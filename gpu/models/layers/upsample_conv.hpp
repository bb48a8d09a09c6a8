// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/conv_layer.hpp>

#include <torch/torch.h>

#include <string>

namespace atelier::gpu::detail {

/// Doubles both sides by repeating elements, then convolves with a 3x3 kernel.
///
/// On a CPU, the repeated elements are never stored. The four results around
/// each corner between four elements depend only on those four. One convolution
/// with a 2x2 kernel, whose weights are summed in advance, therefore computes
/// all of them, with 16 multiplications per element instead of 36.
/// Threads: one at a time.
class upsample_conv {
public:
  /// Takes `name`.weight and `name`.bias.
  static upsample_conv take(weights& from, const std::string& name,
                            int64_t channels);

  /// Maps [n, channels, h, w] to [n, channels, 2 h, 2 w].
  torch::Tensor operator()(const torch::Tensor& x) const;

  void prepare() const {
    conv_.prepare();
  }

  uint64_t bytes() const {
    return conv_.bytes();
  }

private:
  torch::Tensor by_corners(const torch::Tensor& x) const;

  conv_layer conv_;
  bool corners_ = false;
};

/// Returns the weights [4 * out, in, 2, 2] of the convolution over corners for
/// `weight` [out, in, 3, 3]: the results above left of a corner, above right,
/// below left and below right, `out` channels each. Sums in float32.
torch::Tensor corner_weights(const torch::Tensor& weight);

} // namespace atelier::gpu::detail
