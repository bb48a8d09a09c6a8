// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// Scenes with captions that fit them and captions that are wrong in a word.
struct scorer_batch {
  std::vector<scene> scenes;
  /// [scenes, texts, tokens]. The first text of each scene is true; the others
  /// are wrong in one word.
  std::vector<int64_t> ids;
  /// Length of the longest text, including the end token.
  int64_t tokens = 0;
  /// [scenes, questions]: the scenes' answers (scene_answers.hpp).
  std::vector<int64_t> shown;
  /// [scenes, questions]: the answers of the scenes' true texts.
  std::vector<int64_t> said;
  /// [scenes, side, side, questions]: the answers of the scenes' squares.
  std::vector<int64_t> patches;
  /// [scenes, scenes, texts]: 1 if the text is true of the scene but is not the
  /// scene's first, so that the pair is no counter-example.
  std::vector<uint8_t> also_true;
};

struct scorer_batch_shape {
  uint32_t scenes = 32;
  /// Number of texts for each scene.
  uint32_t texts = 3;
  /// Number of squares along a side.
  uint32_t patches = 8;
};

/// Draws batch `number` from scenes of the training split. A caption with too
/// few wrong variants has its last text repeated.
/// Threads: any.
scorer_batch draw_scorer_batch(uint64_t seed, uint64_t number,
                               const scorer_batch_shape& shape);

} // namespace atelier::gpu
