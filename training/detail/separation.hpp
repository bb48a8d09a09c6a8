// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

namespace atelier::gpu::detail {

/// Outlines of two objects are this far apart, in 128ths of the side.
inline constexpr float least_gap = 4;

/// Tell whether a strip of least_gap across the line between the centres keeps
/// the two apart.
bool apart(const scene_object& x, const scene_object& y);

} // namespace atelier::gpu::detail
