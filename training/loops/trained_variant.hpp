// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/gpu/models/judge/text_encoder_net.hpp>
#include <atelier/training/networks/autoencoder_net.hpp>
#include <atelier/training/networks/unet_net.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// Returns whether the training's folder has a part's weights.
bool is_trained(const training_config& config, training_part part);

/// Returns the hash of a part's weights. Stores of its results record the hash,
/// because the results hold only for these weights.
/// Throws model_error: ec::not_found, ec::io_failed.
std::string weights_hash(const training_config& config, training_part part);

/// Returns the trained autoencoder. Its parameters require no gradients.
/// Throws model_error: ec::not_found, ec::bad_payload, ec::io_failed.
std::shared_ptr<autoencoder_net> trained_autoencoder(
  const training_config& config, torch::Device where);

/// Encodes captions for a network: [n, family_tokens], int64.
torch::Tensor caption_ids(const std::vector<std::string>& captions);

/// Draws with a denoiser from the training's folder and its text encoder.
/// Threads: any; records no autograd state.
class trained_variant {
public:
  /// Throws the errors of trained_autoencoder.
  trained_variant(const training_config& config, training_part part,
                  torch::Device where);

  /// Returns the text encoder's states of captions: [n, family_tokens, width].
  torch::Tensor states(const torch::Tensor& ids) const;

  /// Returns the predicted v for noised latents `x` [n, 4, 16, 16] at timesteps
  /// `t` [n], as float32.
  torch::Tensor predict(const torch::Tensor& x, const torch::Tensor& t,
                        const torch::Tensor& states) const;

  /// Returns the text encoder's weights. Their names are those of transformers
  /// with the prefix "text_encoder.".
  std::vector<std::pair<std::string, torch::Tensor>> text_weights() const;

  /// Returns a separate network of the denoiser's shape, with its trained
  /// weights.
  std::shared_ptr<unet_net> copy_denoiser() const;

  /// Draws latents of captions by DDIM, starting from `noise` [n, 4, 16, 16].
  torch::Tensor draw(const torch::Tensor& ids, const torch::Tensor& noise,
                     uint32_t steps, float guidance) const;

private:
  training_config config_;
  training_part part_;
  torch::Device where_;
  std::shared_ptr<text_encoder_net> text_;
  std::shared_ptr<unet_net> unet_;
};

} // namespace atelier::gpu
