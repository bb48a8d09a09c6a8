// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// The output of an encoder in training: both tensors are
/// [n, latent_channels, h, w], unscaled.
struct encoded_image {
  torch::Tensor mean;
  torch::Tensor log_variance;
};

/// AutoencoderKL for training; its parameters have diffusers' names. The
/// network for serving is `autoencoder`.
/// Threads: one at a time.
class autoencoder_net : public torch::nn::Module {
public:
  /// Parameters have PyTorch's initial values until `draw` or a checkpoint sets
  /// them.
  /// @pre config.kind is autoencoder_kind::kl
  explicit autoencoder_net(const autoencoder_config& config);

  /// Draws all parameters from a seed. The variance begins at exp(-6), and
  /// layers that can pass colours on unchanged do so: residual blocks add
  /// nothing, and resolutions change by averaging and copying pixels. Otherwise
  /// colours only come through after thousands of steps.
  void draw(uint64_t seed);

  /// Encodes `pixels`: [n, 3, h, w] in -1..1.
  encoded_image encode(const torch::Tensor& pixels);

  /// Decodes `latent`: [n, latent_channels, h, w], unscaled. Returns
  /// [n, 3, h * factor, w * factor].
  torch::Tensor decode(const torch::Tensor& latent);

  /// Moves the scaling of latents into the 1x1 convolutions: afterwards
  /// `encode` subtracts `mean` from each channel and divides it by
  /// `deviation`, and `decode` undoes this. Both are [latent_channels].
  void fold(const torch::Tensor& mean, const torch::Tensor& deviation);

private:
  struct encoder_part;
  struct decoder_part;

  std::shared_ptr<encoder_part> encoder_;
  std::shared_ptr<decoder_part> decoder_;
  torch::nn::Conv2d quant_{nullptr};
  torch::nn::Conv2d post_quant_{nullptr};
};

} // namespace atelier::gpu
