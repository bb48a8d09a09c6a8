// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/training/scene.hpp>

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// Pictures with the captions that fit them, and captions that nearly do.
struct scorer_batch {
  std::vector<scene> scenes;
  /// [scenes, texts, tokens]: of each scene's texts the first is true, the
  /// others are wrong in one word.
  std::vector<int64_t> ids;
  /// The longest text, with its end.
  int64_t tokens = 0;
  /// [scenes, scenes, texts]: 1 where a text other than the scene's first is
  /// true of it, so that it is no counter-example.
  std::vector<uint8_t> also_true;
};

struct scorer_batch_shape {
  uint32_t scenes = 48;
  /// Of each scene.
  uint32_t texts = 4;
};

/// Draws the batch of that number from scenes of the training split.
/// Threads: any.
scorer_batch draw_scorer_batch(uint64_t seed, uint64_t number,
                               const scorer_batch_shape& shape);

} // namespace atelier::gpu
