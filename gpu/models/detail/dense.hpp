// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/models/weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Multiplies by a matrix and adds a bias, over the last axis.
/// Threads: any number; it does not change.
class linear {
public:
  linear() = default;

  /// Takes `name`.weight [out, in], and `name`.bias [out] where `biased`.
  linear(weights& from, const std::string& name, int64_t in, int64_t out,
         bool biased = true);

  /// Takes a convolution of one pixel, whose weight is [out, in, 1, 1].
  static linear of_pixel(weights& from, const std::string& name, int64_t in,
                         int64_t out);

  /// Takes several without bias as one, whose outputs stand side by side.
  static linear joined(weights& from, const std::vector<std::string>& names,
                       int64_t in, int64_t out);

  /// [..., in] -> [..., out].
  torch::Tensor operator()(const torch::Tensor& x) const;

  /// Adds `y` [..., out] to it.
  torch::Tensor plus(const torch::Tensor& x, const torch::Tensor& y) const;

  uint64_t bytes() const;

private:
  torch::Tensor weight_;
  torch::Tensor bias_;
};

/// A convolution over two axes with a bias.
/// Threads: any number; it does not change.
class conv {
public:
  conv() = default;

  /// Takes `name`.weight [out, in, kernel, kernel] and `name`.bias [out].
  conv(weights& from, const std::string& name, int64_t in, int64_t out,
       int64_t kernel, int64_t stride = 1, int64_t padding = 1);

  /// [n, in, h, w] -> [n, out, h', w'].
  torch::Tensor operator()(const torch::Tensor& x) const;

  /// Adds `y` [n, out, h', w'] to it.
  torch::Tensor plus(const torch::Tensor& x, const torch::Tensor& y) const;

  uint64_t bytes() const;

private:
  torch::Tensor weight_;
  torch::Tensor bias_;
  int64_t stride_ = 1;
  int64_t padding_ = 1;
};

} // namespace atelier::gpu::detail
