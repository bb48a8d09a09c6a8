// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>

namespace atelier::image {

/// Scales pixels of one, three or four channels to `to`, whatever their
/// proportions: Lanczos' filter of three lobes, widened where the picture
/// shrinks. Every channel by itself, also A; the same bits on every machine,
/// and those of Pillow.
/// @param stop asked for each row; true gives the work up
/// Errors:  ec::invalid_argument if the bytes do not fit the extent or a side
///          is 0; ec::out_of_resources; ec::bad_payload if stopped.
/// Threads: any.
/// Source:  Pillow 13, Image.resize(size, LANCZOS) on 8 bits (Resample.c).
/// Older
///          ones scale rows before columns also where the picture becomes wider
///          and lower.
core::result<picture> resize(const pixel_view& from, core::extent to,
                             const std::function<bool()>& stop = {});

/// Returns the picture as it is meant to be looked at. Takes a byte for each
/// pixel meanwhile.
/// @param orientation of EXIF, 1..8; others change nothing
picture upright(picture x, uint32_t orientation);

/// Returns the picture without its transparency, as if there were none.
picture opaque(picture x);

/// Returns one byte for each pixel: 255 where it is light, of the upper half of
/// luma, else 0.
/// Source: Pillow's convert("L"), then diffusers' VaeImageProcessor.binarize.
std::vector<uint8_t> binarize(const pixel_view& x);

/// Returns the same as a picture of one channel, in the memory of `x`.
picture binarized(picture x);

} // namespace atelier::image
