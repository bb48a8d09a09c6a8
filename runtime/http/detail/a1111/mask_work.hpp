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

/// The repainted part of an image: one byte per pixel, 255 if fully repainted.
struct soft_mask {
  core::extent px;
  std::vector<uint8_t> bytes;
};

/// A rectangle of an image.
struct region {
  uint32_t x = 0;
  uint32_t y = 0;
  core::extent px;

  friend bool operator==(const region&, const region&) = default;
};

/// How an image is resized.
enum class resize_mode : uint8_t {
  /// Ignores the proportions.
  stretch = 0,
  /// Crops both sides to the new proportions.
  crop = 1,
  /// Fills the missing parts by repeating the edge.
  fill = 2,
};

/// Polled during work on pixels; true cancels the work.
using stop_predicate = std::function<bool()>;

/// Returns `from` in the size `to`.
core::result<image::bitmap> resize_as(resize_mode how, image::bitmap from,
                                      core::extent to,
                                      const stop_predicate& stop = {});

/// Returns the mask in the size `to`, with its values set to 0 or 255 again.
core::result<soft_mask> resize_mask(resize_mode how, soft_mask from,
                                    core::extent to,
                                    const stop_predicate& stop = {});

/// Returns the mask of a mask image: the opaque pixels if the image has
/// transparency, otherwise the light ones. Needs no memory in addition to that
/// of `x`.
/// Source: the web UI's create_binary_mask (modules/processing.py).
soft_mask mask_of(image::bitmap x);

void invert(soft_mask& x);

/// Softens the mask's edges with three box filters in each direction, which
/// together approximate a Gaussian of that deviation. The run time does not
/// depend on the deviation.
void blur(soft_mask& x, double deviation_x, double deviation_y);

/// Returns the smallest region that contains all repainted pixels, extended by
/// `padding` on every side and widened to the proportions of `like` as far as
/// the image allows. Returns nothing if no pixel is repainted.
/// Source: the web UI's get_crop_region and expand_crop_region
///         (modules/masking.py).
std::optional<region> region_of(const soft_mask& x, uint32_t padding,
                                core::extent like);

/// Crops to a part, in place.
image::bitmap cut(image::bitmap from, const region& part);

soft_mask cut(soft_mask from, const region& part);

/// Fills the repainted pixels with the colours around them.
void fill_masked(image::bitmap& x, const soft_mask& mask);

/// Blends `made` into the part of `to`, as far as the mask repaints it.
/// @pre made has the extent of the part, the mask that of `to`, all three
///      channels
void blend(image::bitmap& to, const image::bitmap& made, const region& part,
           const soft_mask& mask);

/// Returns the mask's pixels in R, G and B.
image::bitmap image_of(const soft_mask& x);

} // namespace atelier::runtime::http::detail
