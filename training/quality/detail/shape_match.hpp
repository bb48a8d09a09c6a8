// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_picture.hpp>
#include <atelier/training/quality/detail/segments.hpp>
#include <atelier/training/scene.hpp>

#include <array>
#include <vector>

namespace atelier::gpu::detail {

/// How much of each pixel in a box of the picture an object covers, 0 to 1.
struct coverage_mask {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  /// Row by row.
  std::vector<float> share;

  size_t index_of(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width)
         + static_cast<size_t>(x);
  }
};

/// Return the coverage by a segment, whose own pixels alone count: full where
/// the difference from the background is `level` or more.
coverage_mask coverage_of(const segment& of,
                          const std::vector<float>& difference, float level);

struct shape_fit {
  object_shape shape = object_shape::circle;
  scene_point centre;
  float radius = 0;
  /// What mask and shape have in common, of what either covers: 0 to 1.
  float score = 0;
};

/// Fit each shape to the mask, beginning with the centre and radius that give
/// it the mask's area and centroid; return the best.
shape_fit match_shape(const coverage_mask& mask);

} // namespace atelier::gpu::detail
