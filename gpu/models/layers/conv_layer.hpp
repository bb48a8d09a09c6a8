// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/host_weights.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Whether a convolution's weights file holds a bias.
enum class conv_bias : uint8_t { none, present };

/// The border of zeros around an image.
struct conv_border {
  int64_t rows;
  int64_t columns;
};

/// A convolution with a square kernel. On a CPU, its weights stay in the file
/// until `prepare`, which packs them for what computes it: the host's kernels
/// or oneDNN. Without `prepare`, the first use does so. On other devices they
/// are prepared at once. Threads: one at a time.
class conv_layer {
public:
  conv_layer() = default;

  /// Takes `name`.weight and `name`.bias.
  static conv_layer take(weights& from, const std::string& name, int64_t out,
                         int64_t in, int64_t kernel,
                         conv_bias bias = conv_bias::present);

  /// Makes a layer whose weights [out, in, k, k] are returned by `make` when
  /// they are needed; `made` is called afterwards. `bias`: [out], or undefined.
  conv_layer(std::function<torch::Tensor()> make, std::function<void()> made,
             torch::Tensor bias, at::IntArrayRef shape, const placement& where);

  /// Packs the weights, and frees the memory of their source.
  void prepare() const;

  /// Maps [n, in, h, w] to [n, out, h', w'], channels-last.
  torch::Tensor operator()(const torch::Tensor& x, conv_border border,
                           int64_t stride = 1) const;

  /// Adds the result for x, with stride 1, to `sum`, which is channels-last.
  void add_to(const torch::Tensor& sum, const torch::Tensor& x,
              conv_border border) const;

  int64_t out_channels() const {
    return out_channels_;
  }

  uint64_t bytes() const {
    return bytes_;
  }

private:
  enum class engine : uint8_t { host, onednn, libtorch };

  static engine choose(const placement& where);

  // The channels of each tap's weights as the host's kernels read them.
  std::vector<int64_t> pieces() const;

  // Convolves into `out`, adding to what is there if `onto` is `out`.
  void by_host(const torch::Tensor& x, conv_border border, int64_t stride,
               const torch::Tensor& onto, const torch::Tensor& out) const;

  // Throws c10::Error unless `x` has the channels of the weights.
  void expect(const torch::Tensor& x) const;

  mutable std::function<torch::Tensor()> make_;
  mutable std::function<void()> made_;
  mutable torch::Tensor weight_;
  mutable host_weights host_;
  torch::Tensor bias_;
  int64_t out_channels_ = 0;
  int64_t in_channels_ = 0;
  uint64_t bytes_ = 0;
  int64_t kernel_ = 1;
  host::element type_ = host::element::float32;
  engine engine_ = engine::libtorch;
};

} // namespace atelier::gpu::detail
