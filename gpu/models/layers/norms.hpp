// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace atelier::gpu::detail {

/// The function applied after a normalisation.
enum class after_norm : uint8_t { nothing, silu };

/// Normalises groups of channels of each row.
/// Threads: any number; it does not change.
class group_norm {
public:
  group_norm() = default;

  /// Takes `name`.weight and `name`.bias, [channels] each.
  group_norm(weights& from, const std::string& name, int64_t channels,
             int64_t groups, double eps);

  /// Maps [n, channels, h, w] to the same shape.
  torch::Tensor operator()(const torch::Tensor& x, after_norm then) const;

  /// Returns the result for `x` + `shift` [n, channels].
  torch::Tensor shifted(const torch::Tensor& x, const torch::Tensor& shift,
                        after_norm then) const;

  /// Returns the result for the concatenation of `x` and `y`, which together
  /// have `channels` channels.
  torch::Tensor joined(const torch::Tensor& x, const torch::Tensor& y,
                       after_norm then) const;

private:
  // Throws c10::Error if the kernels would read beyond a tensor.
  void expect(const torch::Tensor& x, const torch::Tensor& y,
              const torch::Tensor& shift) const;
  torch::Tensor run(const torch::Tensor& x, const torch::Tensor& y,
                    const torch::Tensor& shift, after_norm then) const;

  torch::Tensor weight_;
  torch::Tensor bias_;
  int64_t groups_ = 1;
  double eps_ = 1e-5;
};

/// Normalises the last axis; epsilon 1e-5.
/// Threads: any number; it does not change.
class layer_norm {
public:
  layer_norm() = default;

  /// Takes `name`.weight and `name`.bias, [width] each.
  layer_norm(weights& from, const std::string& name, int64_t width);

  /// Maps [..., width] to the same shape.
  torch::Tensor operator()(const torch::Tensor& x) const;

private:
  torch::Tensor weight_;
  torch::Tensor bias_;
};

} // namespace atelier::gpu::detail
