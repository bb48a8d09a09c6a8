// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/gpu/models/judge/layers.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>
#include <atelier/training/networks/unet_layers.hpp>

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <vector>

namespace atelier::gpu {

/// Diffusers' UNet2DConditionModel for training. named_parameters() has the
/// names that diffusers and unet load. Initial weights are drawn as in
/// diffusers.
/// Threads: one at a time.
/// Source: diffusers, models/unets/unet_2d_condition.py.
class unet_net : public torch::nn::Module {
public:
  /// Draws the initial weights from `from`, or by torch::manual_seed if it is
  /// empty. They are float32 on the CPU; `to` moves them.
  /// Throws model_error (ec::bad_config), whose text names a feature that the
  /// shipped networks do not need and this one lacks, such as
  /// micro-conditioning, embedded guidance, a projection of the context,
  /// kernels other than 3, and attention only to the context.
  explicit unet_net(const unet_config& config,
                    std::optional<at::Generator> from = std::nullopt);

  /// `latents` are [n, in_channels, h, w], `timesteps` [n] of any number type,
  /// and `context` [n, tokens, cross_attention_dim]. Returns
  /// [n, out_channels, h, w].
  torch::Tensor forward(const torch::Tensor& latents,
                        const torch::Tensor& timesteps,
                        const torch::Tensor& context);

  const unet_config& config() const {
    return config_;
  }

private:
  /// One residual block, and the transformer that may follow it.
  struct layer {
    std::shared_ptr<detail::resnet_net> resnet;
    std::shared_ptr<detail::transformer_net> transformer;
  };

  /// The layers of one resolution, and the convolution to the next.
  struct level {
    std::vector<layer> layers;
    std::shared_ptr<detail::conv_net> resize;
  };

  layer add_layer(const std::string& name, size_t i, const unet_level& shape,
                  int64_t in, const detail::first_weights& from);
  void add_down(const detail::first_weights& from);
  void add_middle(const detail::first_weights& from);
  void add_up(const detail::first_weights& from);
  torch::Tensor run(const layer& with, const torch::Tensor& x,
                    const torch::Tensor& time, const torch::Tensor& context);

  unet_config config_;
  std::shared_ptr<detail::linear_net> time1_;
  std::shared_ptr<detail::linear_net> time2_;
  std::shared_ptr<detail::pooling_net> pooling_;
  std::shared_ptr<detail::conv_net> in_;
  std::vector<level> down_;
  std::vector<layer> middle_;
  std::vector<level> up_;
  std::shared_ptr<detail::group_norm_net> norm_;
  std::shared_ptr<detail::conv_net> out_;
};

} // namespace atelier::gpu
