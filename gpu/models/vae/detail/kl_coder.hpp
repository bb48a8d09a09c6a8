// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/layers/upsample_conv.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>
#include <atelier/gpu/models/vae/detail/vae_blocks.hpp>

#include <torch/torch.h>

#include <vector>

namespace atelier::gpu::detail {

/// Maps pixels to a latent's distribution, as in AutoencoderKL.
/// Source: diffusers, models/autoencoders/vae.py, Encoder.
class kl_encoder {
public:
  kl_encoder(weights& from, const autoencoder_config& config);

  /// Maps [n, 3, h, w] to [n, 2 * latent_channels, h / factor, w / factor].
  torch::Tensor operator()(const torch::Tensor& pixels) const;

  uint64_t bytes() const;

private:
  struct level {
    std::vector<vae_resnet> resnets;
    std::optional<conv_layer> downsample;
  };

  conv_layer conv_in_;
  std::vector<level> levels_;
  vae_middle middle_;
  vae_norm norm_out_;
  conv_layer conv_out_;
  std::optional<conv_layer> quant_;
};

/// Maps an unscaled latent to pixels, as in AutoencoderKL.
/// Source: diffusers, models/autoencoders/vae.py, Decoder.
class kl_decoder {
public:
  kl_decoder(weights& from, const autoencoder_config& config);

  /// Packs the convolutions' weights in advance; otherwise the first use does.
  void prepare() const;

  /// Returns the number of consecutive parts from [n, latent_channels, h, w] to
  /// [n, 3, h * factor, w * factor].
  size_t parts() const;

  /// Runs one part on the result of the previous part. @pre index < parts()
  torch::Tensor part(size_t index, torch::Tensor x) const;

  uint64_t bytes() const;

private:
  struct level {
    std::vector<vae_resnet> resnets;
    std::optional<upsample_conv> upsample;
  };

  std::optional<conv_layer> post_quant_;
  conv_layer conv_in_;
  vae_middle middle_;
  std::vector<level> levels_;
  vae_norm norm_out_;
  conv_layer conv_out_;
};

} // namespace atelier::gpu::detail
