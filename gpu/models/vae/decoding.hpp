// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/vae/autoencoder.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace atelier::gpu {

/// A decoding in parts, whole or in tiles.
/// Threads: one at a time, and none that uses the autoencoder meanwhile.
class decoding {
public:
  /// @param by outlives the decoding
  /// @param latent [1, latent_channels, h, w] in the denoiser's scale
  /// @param tile the side of the tiles in elements, a multiple of
  ///        `by.tile_multiple()`; 0: whole
  decoding(const autoencoder& by, torch::Tensor latent, int64_t tile);

  ~decoding();
  decoding(decoding&&) noexcept;
  decoding& operator=(decoding&&) noexcept;

  /// Runs the next part, one of a tile's. Returns the image as `decode` does
  /// after the last part, nothing before. Throws c10::Error.
  std::optional<torch::Tensor> next();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
