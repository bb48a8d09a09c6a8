// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// Images in the form in which the autoencoder learns from them.
struct image_batch {
  /// [count, 3, side, side], in -1..1.
  std::vector<float> pixels;
  uint32_t count = 0;
  uint32_t side = 0;
};

/// Number and kind of the images of a batch. A batch has either crops around
/// an object or whole images, with about as many pixels in total.
struct image_batch_shape {
  /// Side of whole images, in pixels.
  uint32_t side = 128;
  /// Side of crops, in pixels.
  uint32_t crop_side = 64;
  /// Number of crops in a batch.
  uint32_t crops = 16;
  /// One batch in this many has whole images.
  uint32_t whole_every = 3;
  /// Crops begin at multiples of this, so that patterns have the same phase in
  /// a crop as in an image.
  uint32_t crop_step = 16;
};

/// Draws batch `number`. Most batches have crops with an object in each,
/// because backgrounds teach little.
/// Threads: any.
image_batch draw_image_batch(uint64_t seed, uint64_t number,
                             const image_batch_shape& shape);

} // namespace atelier::gpu
