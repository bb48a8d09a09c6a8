// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::image {

/// How an image of a model's own size covers one of another: it is scaled to
/// `scaled`, of which the part of the other's size at `left`, `top` remains.
struct covering {
  core::extent scaled;
  uint32_t left = 0;
  uint32_t top = 0;

  friend bool operator==(const covering&, const covering&) = default;
};

/// Returns how `native` covers `asked`: by the larger factor of both sides, and
/// the centre of it.
/// @pre no side is 0
covering covering_of(core::extent native, core::extent asked);

/// Scales an image to cover `asked` and cuts out its centre: that part of
/// resize(from, covering_of(from.px, asked).scaled), to the bit.
/// Errors, threads: as resize.
core::result<picture> cover(const pixel_view& from, core::extent asked);

/// The way back: scales an image of the size asked for to where it lies in one
/// of `native`, whose edges it repeats.
/// Errors, threads: as resize.
core::result<picture> uncover(const pixel_view& from, core::extent native);

/// The same for a mask of 0 and 255, of a byte a pixel: a pixel of the result
/// is 255 where one of those that it covers is.
/// @pre mask.size() == px.pixels(), and not 0
std::vector<uint8_t> uncover_mask(std::span<const uint8_t> mask,
                                  core::extent px, core::extent native);

/// Puts the pixels of `kept` back where the mask is 0.
/// @pre all are of one size; three channels
void keep_unmasked(picture& drawn, std::span<const uint8_t> kept,
                   std::span<const uint8_t> mask);

} // namespace atelier::image
