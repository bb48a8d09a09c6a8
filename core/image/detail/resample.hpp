// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace atelier::image::detail {

/// The pixels that one pixel of a result is made of, in fixed point.
struct window {
  uint32_t first = 0;
  std::vector<int32_t> weights;
};

/// Returns the windows of Lanczos' filter of three lobes for one side that goes
/// from `from` pixels to `to`: the same bits on every machine.
std::vector<window> windows_of(uint32_t from, uint32_t to);

/// Returns windows for the pixels of [offset, offset + size) alone: what lies
/// before and behind them is their first and their last one.
/// @pre size > 0
std::vector<window> folded(std::vector<window> x, uint32_t offset,
                           uint32_t size);

/// Leaves the work that `stop` ended.
struct given_up {};

/// Makes a picture with one column, or one row, for each window. Throws
/// given_up where `stop`, which is asked for each row, says so.
/// @pre one, three or four channels; the windows lie in the picture
picture scale_rows(const pixel_view& from, std::span<const window> windows,
                   const std::function<bool()>& stop = {});
picture scale_columns(const pixel_view& from, std::span<const window> windows,
                      const std::function<bool()>& stop = {});

} // namespace atelier::image::detail
