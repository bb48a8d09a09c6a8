// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace atelier::gpu::detail {

/// How a tile is blended into those before it.
enum class blending : uint8_t {
  /// Into its upper neighbour, then into its left one, over the shared pixels.
  /// Source: diffusers, AutoencoderKL.tiled_decode.
  neighbours,
  /// Into the image so far.
  /// Source: diffusers, AutoencoderTiny._tiled_decode.
  image,
};

/// How a latent is cut into overlapping squares.
struct tiling {
  /// Elements of a tile's side.
  int64_t latent_side;
  /// Elements that neighbours share.
  int64_t overlap;
  /// Pixels for each element.
  int64_t factor;
  blending blend;
};

/// An image that is decoded tile by tile, line by line. The first tile that
/// reaches an edge is the last one, and none of it is cut off; diffusers adds
/// one that begins within the last `overlap` elements and sees nothing else.
/// Threads: one at a time.
class tile_canvas {
public:
  /// @param latent [n, c, h, w]
  tile_canvas(torch::Tensor latent, const tiling& how);

  bool done() const {
    return done_;
  }

  /// Returns the latent of the next tile. @pre !done()
  torch::Tensor tile() const;

  /// Blends the next tile [n, 3, h * factor, w * factor], float32, into the
  /// image. It may be overwritten. @pre !done()
  void put(const torch::Tensor& tile);

  /// Returns the image, [n, 3, h * factor, w * factor] in float32.
  const torch::Tensor& image() const {
    return image_;
  }

private:
  void blend_neighbours(const torch::Tensor& tile);
  void blend_image(const torch::Tensor& tile);

  /// Returns whether a tile that begins at `from` reaches the latent's end.
  bool is_last(int64_t from, int64_t axis) const {
    return from + how_.latent_side >= latent_.size(axis);
  }

  int64_t step() const {
    return how_.latent_side - how_.overlap;
  }

  torch::Tensor latent_;
  tiling how_;
  torch::Tensor image_;
  bool done_ = false;
  /// The place of the next tile in the latent.
  int64_t y_ = 0;
  int64_t x_ = 0;
  /// The ends of the tiles of the line before, of those of this line, and of
  /// the tile to the left.
  std::vector<torch::Tensor> above_;
  std::vector<torch::Tensor> here_;
  torch::Tensor left_;
};

} // namespace atelier::gpu::detail
