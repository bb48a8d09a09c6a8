// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/palette.hpp>
#include <atelier/training/scene.hpp>

namespace atelier::gpu {

/// Returns the colour of the stripes or dots on an object of that colour:
/// lighter than the object, or darker if the object is light.
rgb8 pattern_colour_of(object_colour x);

/// Returns the background's colour at a point of the scene.
rgb8 colour_at(const scene_background& x, scene_point at);

/// Smallest difference of objects and their patterns from the background behind
/// them.
inline constexpr float least_contrast = 30;

/// Returns whether `object` differs enough from the background around it, and
/// its colour has a different name from each of the background's colours.
bool stands_out(const scene_object& object, const scene_background& on);

} // namespace atelier::gpu
