// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>

namespace atelier::gpu {

/// The combinations of shape, colour and place that a scene's objects have.
enum class scene_split : uint8_t {
  /// Combinations that are not held out.
  training,
  /// Only held-out combinations, for every object.
  held_out,
};

struct scene_options {
  /// Number of objects, 1 to 3; 0 draws one of these, each equally likely.
  uint32_t objects = 0;
  scene_split split = scene_split::training;
};

/// Draws a scene without fault. All places are equally likely, as are all
/// sizes; shapes and colours are nearly so. Half of the objects are plain, and
/// a quarter each are striped and dotted. Three backgrounds of ten are graded;
/// their colours are drawn among those that all objects stand out from.
/// Threads: any, each with its own generator.
/// @pre options.objects <= most_objects
scene draw_scene(core::philox& from, const scene_options& options = {});

} // namespace atelier::gpu
