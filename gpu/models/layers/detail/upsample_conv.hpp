// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/detail/conv_layer.hpp>

#include <torch/torch.h>

#include <string>

namespace atelier::gpu::detail {

/// Doubles both sides by repeating elements, then convolves with a kernel of
/// three.
///
/// On a CPU the repeated elements are never made. Four results stand around
/// each corner between four elements, and see those four alone: so one
/// convolution with a kernel of two, of weights that were added up beforehand,
/// gives all of them, with 16 multiplications for each element in place of 36.
/// Threads: one at a time.
class upsample_conv {
public:
  /// Takes `name`.weight and `name`.bias.
  static upsample_conv take(weights& from, const std::string& name,
                            int64_t channels);

  /// [n, channels, h, w] -> [n, channels, 2 h, 2 w].
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
/// below left, below right, `out` each. Sums in float32.
torch::Tensor corner_weights(const torch::Tensor& weight);

} // namespace atelier::gpu::detail
