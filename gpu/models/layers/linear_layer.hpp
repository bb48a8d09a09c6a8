// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <string>

namespace atelier::gpu::detail {

/// A matrix and an offset: y = x W^T + b.
struct linear_layer {
  /// [out, in].
  torch::Tensor weight;
  /// [out].
  torch::Tensor bias;

  /// Takes `name`.weight and `name`.bias.
  static linear_layer take(weights& from, const std::string& name, int64_t out,
                           int64_t in) {
    return {from.take(name + ".weight", {out, in}),
            from.take(name + ".bias", {out})};
  }

  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::linear(x, weight, bias);
  }

  uint64_t bytes() const {
    return weight.nbytes() + bias.nbytes();
  }
};

} // namespace atelier::gpu::detail
