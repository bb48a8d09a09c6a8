// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/quality/detail/lab_image.hpp>
#include <atelier/training/quality/detail/segments.hpp>
#include <atelier/training/scene.hpp>

#include <array>
#include <vector>

namespace atelier::gpu::detail {

/// The share of each pixel in a box of the image that an object covers.
struct coverage_mask {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  /// Shares of 0 to 1, row by row.
  std::vector<float> share;

  size_t index_of(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width)
         + static_cast<size_t>(x);
  }
};

/// Returns the coverage by a segment. Pixels outside the segment have coverage
/// 0; a pixel inside it has full coverage if its difference from the background
/// is `level` or more.
coverage_mask coverage_of(const segment& of,
                          const std::vector<float>& difference, float level);

struct shape_fit {
  object_shape shape = object_shape::circle;
  scene_point centre;
  float radius = 0;
  /// Intersection of mask and shape divided by their union: 0 to 1.
  float score = 0;
};

/// Fits each shape to the mask, beginning with the centre and radius that give
/// it the mask's area and centroid, and returns the best fit.
shape_fit match_shape(const coverage_mask& mask);

} // namespace atelier::gpu::detail
