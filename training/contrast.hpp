// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/palette.hpp>
#include <atelier/training/scene.hpp>

namespace atelier::gpu {

/// Return the colour of the stripes or dots on an object of that colour:
/// lighter than it, or darker where it is light.
rgb8 pattern_colour_of(object_colour x);

/// Return the background's colour at a point of the scene.
rgb8 colour_at(const scene_background& x, scene_point at);

/// Objects and their patterns differ at least this much from the background
/// behind them.
inline constexpr float least_contrast = 30;

/// Tell whether `object` differs enough from the background round it, and has
/// not the name of one of its colours.
bool stands_out(const scene_object& object, const scene_background& on);

} // namespace atelier::gpu
