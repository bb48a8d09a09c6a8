// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/host_weights.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Multiplies the last axis by a matrix and adds a bias.
/// Threads: any number; it does not change.
class linear {
public:
  linear() = default;

  /// Takes `name`.weight [out, in], and `name`.bias [out] where `biased`.
  linear(weights& from, const std::string& name, int64_t in, int64_t out,
         bool biased = true);

  /// Takes a 1x1 convolution, whose weight is [out, in, 1, 1].
  static linear of_pixel(weights& from, const std::string& name, int64_t in,
                         int64_t out);

  /// Takes several layers without bias as one, with concatenated outputs.
  static linear joined(weights& from, const std::vector<std::string>& names,
                       int64_t in, int64_t out);

  /// Maps [..., in] to [..., out].
  torch::Tensor operator()(const torch::Tensor& x) const;

  /// Adds the result to `y` [..., out], without gaps, and returns `y`.
  torch::Tensor add_to(const torch::Tensor& y, const torch::Tensor& x) const;

private:
  linear(weights& from, int64_t in, int64_t out);

  void put(weights& from, const std::string& name, int64_t at,
           const torch::Tensor& weight);
  void put_bias(weights& from, const std::string& name, int64_t out);

  int64_t out_ = 0;
  host_weights host_;
  // Used if the host's kernels are not.
  torch::Tensor weight_;
  torch::Tensor bias_;
};

/// A linear layer with two halves of outputs; the first half is multiplied by
/// GELU of the second.
/// Source: diffusers, models/activations.py, GEGLU.
class gated_linear {
public:
  /// Takes `name`.weight [2 * out, in] and `name`.bias.
  gated_linear(weights& from, const std::string& name, int64_t in, int64_t out);

  /// Maps [..., in] to [..., out].
  torch::Tensor operator()(const torch::Tensor& x) const;

private:
  int64_t out_;
  host_weights host_;
  torch::Tensor weight_;
  torch::Tensor bias_;
};

/// Sizes of a convolution over two axes.
struct conv_shape {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 3;
  int64_t stride = 1;
  /// Zeros before and after each axis.
  int64_t padding = 1;
};

/// A convolution over two axes with a bias.
/// Threads: any number; it does not change.
class conv {
public:
  /// Takes `name`.weight [out, in, kernel, kernel] and `name`.bias [out].
  conv(weights& from, const std::string& name, const conv_shape& shape);

  /// Also takes `shortcut`.weight [out, c, 1, 1] and its bias for a 1x1
  /// convolution whose result is added; `parts` add up to c.
  conv(weights& from, const std::string& name, const conv_shape& shape,
       const std::string& shortcut, const std::vector<int64_t>& parts);

  /// Maps [n, in, h, w] to [n, out, h', w'].
  torch::Tensor operator()(const torch::Tensor& x) const;

  /// Returns the result plus `y` [n, out, h', w'].
  torch::Tensor plus(const torch::Tensor& x, const torch::Tensor& y) const;

  /// Adds the shortcut from maps of the size of the result, one for each part.
  torch::Tensor with_shortcut(const torch::Tensor& x,
                              const std::vector<torch::Tensor>& parts) const;

  /// Convolves `x` enlarged to h x w, where each pixel has the value of the
  /// nearest one.
  torch::Tensor enlarged(const torch::Tensor& x, int64_t h, int64_t w) const;

  /// Convolves `x` with a row and a column of zeros after it.
  torch::Tensor padded_after(const torch::Tensor& x) const;

private:
  // Computes [n, out, h, w] from a map seen as `first` and from shortcuts.
  torch::Tensor run(std::vector<torch::Tensor> inputs,
                    const host::dense_input& first, int64_t h, int64_t w,
                    const torch::Tensor& onto) const;

  conv_shape shape_;
  /// Channels of the first input as the kernels read it.
  int64_t in_ = 0;
  host_weights host_;
  // Used if the host's kernels are not.
  torch::Tensor weight_;
  torch::Tensor bias_;
  torch::Tensor shortcut_weight_;
  torch::Tensor shortcut_bias_;
};

} // namespace atelier::gpu::detail
