// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

namespace atelier::gpu::detail {

/// Returns the distance of a point from the outline of a shape of radius 1
/// around the origin, negative inside. Near the outline it is exact except at
/// corners. It never changes faster than its argument.
/// Units: radii; y grows downwards.
float signed_distance(object_shape shape, float x, float y);

/// Returns how far the shape of radius 1 extends in the direction (dx, dy),
/// which has length 1. No shape extends farther than 1 along x or along y.
float reach(object_shape shape, float dx, float dy);

} // namespace atelier::gpu::detail
