// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/vae/autoencoder.hpp>

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu {

/// Makes small pictures of latents while a run goes on: AutoencoderTiny decodes
/// them; of AutoencoderKL, which is slow, each place of the latent becomes one
/// pixel by a linear map, fitted once to the autoencoder's own pictures of even
/// patches. So it needs no table of numbers for each family.
/// Threads: as the autoencoder; it must outlive this.
class latent_preview {
public:
  explicit latent_preview(const autoencoder& from);

  /// `x0`: [c, h, w], the predicted clean latent. Returns [height, width, 3],
  /// uint8, on the CPU, of at most `most_pixels`; undefined where that cannot
  /// be.
  torch::Tensor draw(const torch::Tensor& x0, int64_t most_pixels) const;

private:
  const autoencoder& from_;
  /// [3, channels], and what is added, [3, 1]; undefined with AutoencoderTiny.
  torch::Tensor weight_;
  torch::Tensor bias_;
};

} // namespace atelier::gpu
