// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/pixels.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace atelier::image::detail {

/// The source pixels that make one pixel of a result, with weights in fixed
/// point.
struct window {
  uint32_t first = 0;
  std::vector<int32_t> weights;
};

/// Returns the windows of a filter for scaling one side from `from` pixels to
/// `to`. They have the same bits on every machine.
std::vector<window> windows_of(uint32_t from, uint32_t to,
                               scaling_filter by = scaling_filter::lanczos);

/// Returns windows that use only the pixels of [offset, offset + size). The
/// first and the last of these replace the pixels before and after the range.
/// @pre size > 0
std::vector<window> folded(std::vector<window> x, uint32_t offset,
                           uint32_t size);

/// Thrown to end the work when `stop` returns true.
struct given_up {};

/// Return an image with one column, or one row, for each window. Throw given_up
/// if `stop`, which is called for each row, returns true.
/// @pre one, three or four channels; the windows lie in the image
bitmap scale_rows(const pixel_view& from, std::span<const window> windows,
                  const std::function<bool()>& stop = {});
bitmap scale_columns(const pixel_view& from, std::span<const window> windows,
                     const std::function<bool()>& stop = {});

} // namespace atelier::image::detail
