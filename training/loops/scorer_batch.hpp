// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

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
  /// Of each scene, and of its true text, see scene_answers.hpp.
  std::vector<int64_t> shown;
  std::vector<int64_t> said;
  /// Of each scene's squares, `patches` along a side.
  std::vector<int64_t> patches;
  /// [scenes, scenes, texts]: 1 where a text other than the scene's first is
  /// true of it, so that it is no counter-example.
  std::vector<uint8_t> also_true;
};

struct scorer_batch_shape {
  uint32_t scenes = 32;
  /// Of each scene.
  uint32_t texts = 3;
  /// Squares along a side.
  uint32_t patches = 8;
};

/// Draws the batch of that number from scenes of the training split.
/// Threads: any.
scorer_batch draw_scorer_batch(uint64_t seed, uint64_t number,
                               const scorer_batch_shape& shape);

} // namespace atelier::gpu
