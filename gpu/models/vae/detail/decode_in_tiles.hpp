// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace atelier::gpu::detail {

/// How a latent is cut into overlapping squares.
struct tiling {
  /// Elements of a tile's side.
  int64_t latent_side;
  /// Elements that neighbours share.
  int64_t overlap;
  /// Pixels for each element.
  int64_t factor;
};

/// Decodes a tile [n, c, h, w] to [n, 3, h * factor, w * factor] in float32.
using tile_decoder = std::function<torch::Tensor(const torch::Tensor&)>;

/// Decodes one tile after another; each is blended into its upper neighbour,
/// then into its left one, over the shared pixels.
/// Source: diffusers, AutoencoderKL.tiled_decode.
torch::Tensor decode_blending_neighbours(const torch::Tensor& latent,
                                         const tiling& how,
                                         const tile_decoder& decode);

/// Decodes one tile after another; each is blended into the image so far.
/// Source: diffusers, AutoencoderTiny._tiled_decode.
torch::Tensor decode_blending_image(const torch::Tensor& latent,
                                    const tiling& how,
                                    const tile_decoder& decode);

} // namespace atelier::gpu::detail
