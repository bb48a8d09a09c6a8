// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>

namespace atelier::gpu {

/// Which combinations of shape, colour and place a scene's objects have.
enum class scene_split : uint8_t {
  /// Those that are not held out.
  training,
  /// Held out ones alone, for every object.
  held_out,
};

struct scene_options {
  /// 1 to 3; 0: one of these, each as likely.
  uint32_t objects = 0;
  scene_split split = scene_split::training;
};

/// Draw a scene without fault. Places and sizes are each as likely as the
/// others of their kind, shapes and colours nearly so; half of the objects are
/// plain, a quarter each striped and dotted; three backgrounds of ten are
/// graded, and their colours are drawn among those that all objects stand out
/// from.
/// Threads: any, each with its own generator.
/// @pre options.objects <= most_objects
scene draw_scene(core::philox& from, const scene_options& options = {});

} // namespace atelier::gpu
