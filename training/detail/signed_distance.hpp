// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/scene.hpp>

namespace atelier::gpu::detail {

/// Return the distance of a point to the outline of a shape of radius 1 round
/// the origin, negative inside. Near the outline it is exact but for corners;
/// nowhere does it change faster than its argument.
/// Units: radii; y grows downwards.
float signed_distance(object_shape shape, float x, float y);

/// Return how far the shape of radius 1 reaches in the direction (dx, dy), of
/// length 1. Along x and along y none reaches farther than 1.
float reach(object_shape shape, float dx, float dy);

} // namespace atelier::gpu::detail
