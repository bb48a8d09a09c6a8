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

/// A residual block, followed by a transformer if the level has them.
struct unet_layer {
  resnet_block resnet;
  std::optional<spatial_transformer> transformer;

  torch::Tensor operator()(const torch::Tensor& x, const torch::Tensor& skip,
                           const pass& of) const;
};

/// One level of the downward path.
/// Source: diffusers, models/unets/unet_2d_blocks.py, DownBlock2D and
///         CrossAttnDownBlock2D.
class down_level {
public:
  /// @param last whether this level is the last, which does not downsample
  down_level(weights& from, const std::string& name, const unet_level& shape,
             int64_t in, bool last, const unet_config& config);

  /// Appends each layer's result to `skips`, the downsampled one last.
  torch::Tensor operator()(torch::Tensor x, std::vector<torch::Tensor>& skips,
                           const pass& of) const;

private:
  std::vector<unet_layer> layers_;
  std::optional<conv> smaller_;
  bool pad_end_;
};

/// The blocks between the two paths. Must not be called if the model has none.
class middle_level {
public:
  middle_level(weights& from, const unet_config& config);

  torch::Tensor operator()(const torch::Tensor& x, const pass& of) const;

private:
  unet_layer first_;
  std::optional<resnet_block> second_;
};

/// One level of the upward path.
/// Source: as down_level, UpBlock2D and CrossAttnUpBlock2D.
class up_level {
public:
  /// @param in channels of the level before
  /// @param beside channels of the level that follows, whose skip the last
  ///        layer consumes
  up_level(weights& from, const std::string& name, const unet_level& shape,
           int64_t in, int64_t beside, bool last, const unet_config& config);

  /// Consumes one of `skips` for each layer, from the end. The result has the
  /// size of the next skip.
  torch::Tensor operator()(torch::Tensor x, std::vector<torch::Tensor>& skips,
                           const pass& of) const;

private:
  std::vector<unet_layer> layers_;
  std::optional<conv> larger_;
};

} // namespace atelier::gpu::detail
