// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/placement.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

/// What an encoder says of a picture's latent: a normal distribution.
struct latent_distribution {
  /// [n, latent_channels, h / factor, w / factor], unscaled, in float32.
  torch::Tensor mean;
  /// As mean; the logarithm of the variance, clamped to -30..20. Minus
  /// infinity throughout for AutoencoderTiny.
  torch::Tensor log_variance;
};

/// Diffusers' AutoencoderKL, and AutoencoderTiny behind the same face (whose
/// variance is 0). Latents here are those that the denoiser sees: scaled by
/// scaling_factor and shifted by shift_factor.
/// Computes in float32 where the config's force_upcast asks for it and the
/// placement's type is float16.
/// Threads: one at a time; records no autograd state.
class autoencoder {
public:
  /// Errors: as unet::load.
  static core::result<std::unique_ptr<autoencoder>> load(
    const component& from, const placement& where);

  ~autoencoder();
  autoencoder(const autoencoder&) = delete;
  autoencoder& operator=(const autoencoder&) = delete;

  /// `pixels`: [n, 3, h, w] in -1..1. Returns the unscaled distribution; see
  /// `to_latent`.
  latent_distribution encode(const torch::Tensor& pixels) const;

  /// Returns the denoiser's latent for a drawn or mean value of encode.
  torch::Tensor to_latent(const torch::Tensor& drawn) const;

  /// `latent`: [n, latent_channels, h, w] as the denoiser leaves it. Returns
  /// [n, 3, h * factor, w * factor], about -1..1, in float32.
  torch::Tensor decode(const torch::Tensor& latent) const;

  /// How many parts a decoding has that can wait for each other.
  size_t decode_parts() const;

  /// Does one part of `decode` on what the part before gave; the first takes
  /// the latent, the last returns the picture: for one row the same bits as in
  /// one go. @pre index < decode_parts()
  torch::Tensor decode_part(size_t index, torch::Tensor x) const;

  /// Decodes in overlapping tiles that are blended: bounded memory, close to
  /// `decode` but not equal.
  /// Source: diffusers, AutoencoderKL._tiled_decode.
  torch::Tensor decode_tiled(const torch::Tensor& latent) const;

  const autoencoder_config& config() const;
  /// Pixels of a picture's side for each element of a latent's side.
  uint32_t factor() const;
  uint64_t weight_bytes() const;

private:
  struct impl;
  explicit autoencoder(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
