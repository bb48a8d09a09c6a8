// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// Pictures as the autoencoder learns them.
struct picture_batch {
  /// [count, 3, side, side], in -1..1.
  std::vector<float> pixels;
  uint32_t count = 0;
  uint32_t side = 0;
};

/// How many pictures of which kind a batch has.
struct picture_batch_shape {
  /// Whole pictures' side.
  uint32_t side = 128;
  /// Side of what is cut out round an object, and how many of those make a
  /// batch; whole pictures are so many fewer as they have more pixels.
  uint32_t crop_side = 64;
  uint32_t crops = 16;
  /// Every so many batches one is of whole pictures.
  uint32_t whole_every = 3;
  /// Cuts begin at multiples of this, so that patterns lie in a cut as they do
  /// in a picture.
  uint32_t crop_step = 16;
};

/// Draws the batch of that number: most are cuts of pictures with an object in
/// each, since backgrounds teach little.
/// Threads: any.
picture_batch draw_picture_batch(uint64_t seed, uint64_t number,
                                 const picture_batch_shape& shape);

} // namespace atelier::gpu
