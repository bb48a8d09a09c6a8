// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/gpu/models/judge/layers.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <torch/torch.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Diffusers' AutoencoderTiny for training. named_parameters() has the names
/// that diffusers and autoencoder load. Initial weights are drawn as in
/// diffusers.
/// Threads: one at a time.
/// Source: diffusers, models/autoencoders/vae.py, EncoderTiny and DecoderTiny.
class tiny_autoencoder_net : public torch::nn::Module {
public:
  /// Draws the initial weights from `from`, or by torch::manual_seed if it is
  /// empty. They are float32 on the CPU; `to` moves them.
  /// Throws model_error (ec::bad_config) if the config is of another kind or
  /// its non-linearity is not relu.
  explicit tiny_autoencoder_net(
    const autoencoder_config& config,
    std::optional<at::Generator> from = std::nullopt);

  /// Encodes `pixels`: [n, 3, h, w] in -1..1. Returns
  /// [n, latent_channels, h / factor, w / factor].
  torch::Tensor encode(const torch::Tensor& pixels);

  /// Decodes latents to pixels in about -1..1.
  torch::Tensor decode(const torch::Tensor& latents);

  const autoencoder_config& config() const {
    return config_;
  }

private:
  /// One convolution, optionally after doubling the size, or a residual block
  /// of three convolutions.
  struct step {
    std::vector<std::shared_ptr<detail::conv_net>> convs;
    bool enlarges = false;
    bool relu_after = false;
  };

  void add_blocks(std::vector<step>& to, const std::string& side, size_t& at,
                  int64_t count, int64_t width,
                  const detail::first_weights& from);
  static torch::Tensor run(const std::vector<step>& steps, torch::Tensor x);

  autoencoder_config config_;
  std::vector<step> encoder_;
  std::vector<step> decoder_;
};

} // namespace atelier::gpu
