// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/networks/autoencoder_net.hpp>
#include <atelier/gpu/training/networks/text_encoder_net.hpp>
#include <atelier/gpu/training/networks/unet_net.hpp>
#include <atelier/gpu/training/train.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Tells whether a part's weights are in the training's folder.
bool is_trained(const training_config& config, training_part part);

/// Returns the hash of a part's weights: what is kept of its work is of these.
/// Throws model_error (ec::not_found, ec::io_failed).
std::string weights_hash(const training_config& config, training_part part);

/// Returns the trained autoencoder, with nothing to be learned.
/// Throws model_error: ec::not_found, ec::bad_payload, ec::io_failed.
std::shared_ptr<autoencoder_net> trained_autoencoder(
  const training_config& config, torch::Device where);

/// Encodes captions for a network: [n, family_tokens], int64.
torch::Tensor caption_ids(const std::vector<std::string>& captions);

/// A denoiser that was trained here, with its text encoder, to draw with.
/// Threads: any; records no autograd state.
class trained_variant {
public:
  /// Throws as trained_autoencoder.
  trained_variant(const training_config& config, training_part part,
                  torch::Device where);

  /// Draws latents of captions: DDIM from `noise` [n, 4, 16, 16].
  torch::Tensor draw(const torch::Tensor& ids, const torch::Tensor& noise,
                     uint32_t steps, float guidance) const;

private:
  torch::Device where_;
  std::shared_ptr<text_encoder_net> text_;
  std::shared_ptr<unet_net> unet_;
};

} // namespace atelier::gpu
