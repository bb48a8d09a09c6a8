// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/training/scene.hpp>

namespace atelier::gpu::detail {

/// Outlines of two objects are this far apart, in 128ths of the side.
inline constexpr float least_gap = 4;

/// Tell whether the two neither overlap nor come closer than least_gap.
bool apart(const scene_object& x, const scene_object& y);

} // namespace atelier::gpu::detail
