// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>

namespace atelier::image {

/// The filter by which neighbouring pixels are weighed.
enum class scaling_filter : uint8_t {
  /// Lanczos' filter of three lobes.
  lanczos,
  /// Cubic pieces, with the parameter -0.5.
  bicubic,
  bilinear,
};

/// Scales pixels of one, three or four channels to `to`, regardless of their
/// proportions. The filter is widened if the image shrinks. Each channel,
/// including A, is scaled separately. The result has the same bits on every
/// machine, which are those of Pillow.
/// @param stop called for each row; scaling stops when it returns true
/// Errors:  ec::invalid_argument if the bytes do not fit the extent or a side
///          is 0; ec::out_of_resources; ec::bad_payload if stopped.
/// Threads: any.
/// Source:  Pillow 13, Image.resize(size, FILTER) on 8 bits (Resample.c).
///          Older versions scale rows before columns even if the image becomes
///          wider and shorter.
core::result<bitmap> resize(const pixel_view& from, core::extent to,
                            const std::function<bool()>& stop = {},
                            scaling_filter by = scaling_filter::lanczos);

/// Returns the image turned for viewing. Takes one additional byte a pixel
/// while it works.
/// @param orientation of EXIF, 1..8; other values change nothing
bitmap upright(bitmap x, uint32_t orientation);

/// Returns the image as it looks on white, without its transparency. Colours
/// that a file hides under transparent pixels have no effect.
/// Source: Pillow 13, Image.paste on white with the image as its own mask, as
/// in
///         the web UI's images.flatten.
bitmap opaque(bitmap x);

/// Returns one byte for each pixel: 255 if it is light, that is, in the upper
/// half of luma, and 0 otherwise.
/// Source: Pillow's convert("L"), then diffusers' VaeImageProcessor.binarize.
std::vector<uint8_t> binarize(const pixel_view& x);

/// Returns the result of binarize as an image of one channel, in the memory of
/// `x`.
bitmap binarized(bitmap x);

} // namespace atelier::image
