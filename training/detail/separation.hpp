// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

namespace atelier::gpu::detail {

/// Smallest distance between the outlines of two objects.
/// Units: 128ths of the image's side.
inline constexpr float least_gap = 4;

/// Returns whether a strip of width least_gap, perpendicular to the line
/// between the centres, separates the two objects.
bool apart(const scene_object& x, const scene_object& y);

} // namespace atelier::gpu::detail
