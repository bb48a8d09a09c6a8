// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>
#include <atelier/gpu/models/vae/coder_memory.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

namespace detail {
struct tiling;
} // namespace detail

/// An encoder's output for an image's latent: a normal distribution.
struct latent_distribution {
  /// [n, latent_channels, h / factor, w / factor], unscaled, in float32.
  torch::Tensor mean;
  /// The logarithm of the variance, shaped as `mean` and clamped to -30..20.
  /// For AutoencoderTiny, every value is minus infinity.
  torch::Tensor log_variance;
};

/// Diffusers' AutoencoderKL, or AutoencoderTiny behind the same interface
/// (whose variance is 0). Latents here are those of the denoiser: scaled by
/// scaling_factor and shifted by shift_factor. Computes in float32 if the
/// config's force_upcast is set, or the caller's where the config has none, and
/// the placement's type is float16.
/// Threads: one at a time; records no autograd state.
class autoencoder {
public:
  /// @param upcasts the value of force_upcast where the config has none
  /// Errors: as unet::load.
  static core::result<std::unique_ptr<autoencoder>> load(const component& from,
                                                         const placement& where,
                                                         bool upcasts = true);

  ~autoencoder();
  autoencoder(const autoencoder&) = delete;
  autoencoder& operator=(const autoencoder&) = delete;

  /// Returns the unscaled distribution; see `to_latent`.
  /// `pixels`: [n, 3, h, w] in -1..1.
  latent_distribution encode(const torch::Tensor& pixels) const;

  /// Returns the denoiser's latent for a drawn or mean value of encode.
  torch::Tensor to_latent(const torch::Tensor& drawn) const;

  /// Returns [n, 3, h * factor, w * factor], about -1..1, in float32.
  /// `latent`: [n, latent_channels, h, w] in the denoiser's scale.
  torch::Tensor decode(const torch::Tensor& latent) const;

  /// Returns the number of parts into which a decoding can be split.
  size_t decode_parts() const;

  /// Runs one part of `decode` on the result of the previous part. The first
  /// part takes the latent, and the last returns the image. For one row, the
  /// bits equal those of `decode`. @pre index < decode_parts()
  torch::Tensor decode_part(size_t index, torch::Tensor x) const;

  /// Decodes in overlapping tiles that are blended, of the size for which the
  /// autoencoder was made. The result is close to `decode` but not equal.
  /// Source: diffusers, AutoencoderKL._tiled_decode; see detail/tile_canvas.hpp
  /// for what differs.
  torch::Tensor decode_tiled(const torch::Tensor& latent) const;

  /// Returns the number of elements of which a tile's side is a multiple.
  int64_t tile_multiple() const;

  /// Returns how a latent is cut into tiles of that side, in elements.
  detail::tiling tiles(int64_t side) const;

  coder_placement where() const;

  const autoencoder_config& config() const;
  /// Returns the pixels of an image's side per element of a latent's side.
  uint32_t factor() const;
  uint64_t weight_bytes() const;

private:
  struct impl;
  explicit autoencoder(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
