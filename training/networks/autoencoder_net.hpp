// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// What an encoder in training says: both [n, latent_channels, h, w], unscaled.
struct encoded_picture {
  torch::Tensor mean;
  torch::Tensor log_variance;
};

/// AutoencoderKL that learns; its parameters have diffusers' names. The
/// network that serves is `autoencoder`.
/// Threads: one at a time.
class autoencoder_net : public torch::nn::Module {
public:
  /// Parameters are PyTorch's own draw until `draw` or a checkpoint sets them.
  /// @pre config.kind is autoencoder_kind::kl
  explicit autoencoder_net(const autoencoder_config& config);

  /// Draws all parameters from a seed. The variance begins at exp(-6), and
  /// what can pass colours on as they are does: residual blocks add nothing,
  /// resolutions change by means and copies of places. Otherwise thousands of
  /// steps go by before colours come through.
  void draw(uint64_t seed);

  /// `pixels`: [n, 3, h, w] in -1..1.
  encoded_picture encode(const torch::Tensor& pixels);

  /// `latent`: [n, latent_channels, h, w], unscaled. Returns
  /// [n, 3, h * factor, w * factor].
  torch::Tensor decode(const torch::Tensor& latent);

  /// Moves the scaling of latents into the 1x1 convolutions: afterwards each
  /// channel of what `encode` returns has had `mean` subtracted and is divided
  /// by `deviation`, and `decode` undoes it. Both: [latent_channels].
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
