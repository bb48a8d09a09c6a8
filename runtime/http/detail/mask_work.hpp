// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace atelier::runtime::http::detail {

/// What of a picture is repainted: a byte for each pixel, 255 all of it.
struct soft_mask {
  core::extent px;
  std::vector<uint8_t> bytes;
};

/// A part of a picture.
struct region {
  uint32_t x = 0;
  uint32_t y = 0;
  core::extent px;

  friend bool operator==(const region&, const region&) = default;
};

/// How a picture gets another size.
enum class resize_mode : uint8_t {
  /// Whatever its proportions.
  stretch = 0,
  /// What goes beyond them is cut off on both sides.
  crop = 1,
  /// What is missing repeats the edge.
  fill = 2,
};

/// Asked again and again during work on pixels; true gives it up.
using stop_predicate = std::function<bool()>;

/// Returns `from` in the size `to`.
core::result<image::picture> resize_as(resize_mode how, image::picture from,
                                       core::extent to,
                                       const stop_predicate& stop = {});

/// Returns the mask in the size `to`, divided in two again.
core::result<soft_mask> resize_mask(resize_mode how, soft_mask from,
                                    core::extent to,
                                    const stop_predicate& stop = {});

/// Returns what a mask's picture says: where it has transparency, what is
/// opaque, else what is light. It takes no memory beside that of `x`.
/// Source: the web UI's create_binary_mask (modules/processing.py).
soft_mask mask_of(image::picture x);

void invert(soft_mask& x);

/// Softens its edges: three boxes each way, which together come near Gauss'
/// curve of that deviation. Takes time that does not depend on it.
void blur(soft_mask& x, double deviation_x, double deviation_y);

/// Returns the least region with all that is repainted, `padding` wider on
/// every side and widened to the proportions of `like` as far as the picture
/// goes. None where nothing is repainted.
/// Source: the web UI's get_crop_region and expand_crop_region
///         (modules/masking.py).
std::optional<region> region_of(const soft_mask& x, uint32_t padding,
                                core::extent like);

/// Cuts a part out, in place.
image::picture cut(image::picture from, const region& part);

soft_mask cut(soft_mask from, const region& part);

/// Paints what is repainted in the colours around it.
void fill_masked(image::picture& x, const soft_mask& mask);

/// Puts `made` onto the part of `to`, as far as the mask repaints it.
/// @pre made has the extent of the part, the mask that of `to`, all three
///      channels
void blend(image::picture& to, const image::picture& made, const region& part,
           const soft_mask& mask);

/// Returns the mask's pixels in R, G and B.
image::picture picture_of(const soft_mask& x);

} // namespace atelier::runtime::http::detail
