// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/layers/conv_layer.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <torch/torch.h>

#include <variant>
#include <vector>

namespace atelier::gpu::detail {

/// Either half of AutoencoderTiny: a sequence of convolutions and residual
/// blocks.
/// Source: diffusers, models/autoencoders/vae.py, EncoderTiny, DecoderTiny.
class tiny_coder {
public:
  /// Builds the half that maps pixels to latents.
  static tiny_coder encoder(weights& from, const autoencoder_config& config);

  /// Builds the half that maps latents to pixels.
  static tiny_coder decoder(weights& from, const autoencoder_config& config);

  /// Runs all layers, without the scaling of pixels and latents around them.
  torch::Tensor operator()(torch::Tensor x) const;

  uint64_t bytes() const;

private:
  struct residual {
    conv_layer conv[3];
  };

  struct activation {};

  struct upsampling {};

  struct plain {
    conv_layer conv;
    int64_t stride;
  };

  using layer = std::variant<plain, residual, activation, upsampling>;

  explicit tiny_coder(autoencoder_activation how) : activation_(how) {}

  void add_residuals(weights& from, const std::string& name, int64_t count,
                     int64_t channels);

  autoencoder_activation activation_;
  std::vector<layer> layers_;
};

} // namespace atelier::gpu::detail
