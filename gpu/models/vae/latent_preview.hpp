// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/vae/autoencoder.hpp>

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu {

/// Draws small images of latents during a run. AutoencoderTiny decodes them.
/// AutoencoderKL is slow, so a linear map turns each place of the latent into
/// one pixel; it is fitted once to the autoencoder's own images of uniform
/// patches, so that no family needs a table of numbers.
/// Threads: as the autoencoder, which must outlive this object.
class latent_preview {
public:
  explicit latent_preview(const autoencoder& from);

  /// Returns [height, width, 3], uint8, on the CPU, with at most `most_pixels`;
  /// undefined if that is not possible.
  /// `x0`: [c, h, w], the predicted clean latent.
  torch::Tensor draw(const torch::Tensor& x0, int64_t most_pixels) const;

private:
  const autoencoder& from_;
  /// The linear map, [3, channels], and its offset, [3, 1]; undefined with
  /// AutoencoderTiny.
  torch::Tensor weight_;
  torch::Tensor bias_;
};

} // namespace atelier::gpu
