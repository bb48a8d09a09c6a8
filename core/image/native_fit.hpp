// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::image {

/// How an image of a model's own size covers another size. The image is scaled
/// to `scaled` and cut to the other size at `left`, `top`.
struct covering {
  core::extent scaled;
  uint32_t left = 0;
  uint32_t top = 0;

  friend bool operator==(const covering&, const covering&) = default;
};

/// Returns how `native` covers `asked`: it is scaled by the larger factor of
/// both sides, and its centre remains.
/// @pre no side is 0
covering covering_of(core::extent native, core::extent asked);

/// Scales an image to cover `asked` and cuts out its centre. The result is
/// bit-identical to that part of resize(from, covering_of(from.px,
/// asked).scaled).
/// Errors, threads: as resize.
core::result<bitmap> cover(const pixel_view& from, core::extent asked);

/// Reverses `cover`: scales an image of the requested size to its place in an
/// image of size `native`, and repeats its edges around it.
/// Errors, threads: as resize.
core::result<bitmap> uncover(const pixel_view& from, core::extent native);

/// Does the same as `uncover` for a mask of one byte a pixel, 0 or 255. A pixel
/// of the result is 255 if any pixel that it covers is 255.
/// @pre mask.size() == px.pixels(), and not 0
std::vector<uint8_t> uncover_mask(std::span<const uint8_t> mask,
                                  core::extent px, core::extent native);

/// Copies the pixels of `kept` into `drawn` where the mask is 0.
/// @pre all have the same size; three channels
void keep_unmasked(bitmap& drawn, std::span<const uint8_t> kept,
                   std::span<const uint8_t> mask);

} // namespace atelier::image
