// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/unet/detail/unet_resnet.hpp>
#include <atelier/gpu/models/unet/detail/unet_transformer.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// A residual block, and a transformer behind it where the level has them.
struct unet_layer {
  resnet_block resnet;
  std::optional<spatial_transformer> transformer;

  torch::Tensor operator()(const torch::Tensor& x, const torch::Tensor& skip,
                           const pass& of) const;
};

/// One level of the way down.
/// Source: diffusers, models/unets/unet_2d_blocks.py, DownBlock2D and
///         CrossAttnDownBlock2D.
class down_level {
public:
  /// `last`: nothing makes its result smaller.
  down_level(weights& from, const std::string& name, const unet_level& shape,
             int64_t in, bool last, const unet_config& config);

  /// Appends each layer's result to `skips`, the smaller one at last.
  torch::Tensor operator()(torch::Tensor x, std::vector<torch::Tensor>& skips,
                           const pass& of) const;

private:
  std::vector<unet_layer> layers_;
  std::optional<conv> smaller_;
  bool pad_end_;
};

/// What stands between the ways; not to be called where it is absent.
class middle_level {
public:
  middle_level(weights& from, const unet_config& config);

  torch::Tensor operator()(const torch::Tensor& x, const pass& of) const;

private:
  unet_layer first_;
  std::optional<resnet_block> second_;
};

/// One level of the way up.
/// Source: as down_level, UpBlock2D and CrossAttnUpBlock2D.
class up_level {
public:
  /// `in`: channels of the level before; `beside`: those of the level that
  /// follows, whose skip the last layer takes.
  up_level(weights& from, const std::string& name, const unet_level& shape,
           int64_t in, int64_t beside, bool last, const unet_config& config);

  /// Takes one of `skips` for each layer, from the end. Its result has the size
  /// of the next skip.
  torch::Tensor operator()(torch::Tensor x, std::vector<torch::Tensor>& skips,
                           const pass& of) const;

private:
  std::vector<unet_layer> layers_;
  std::optional<conv> larger_;
};

} // namespace atelier::gpu::detail
