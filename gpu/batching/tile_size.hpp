// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace atelier::gpu {

/// What decoding an image needs.
struct decode_need {
  /// The sides of its latent.
  uint64_t height = 0;
  uint64_t width = 0;
  /// Pixels of a side for each element of the latent's.
  uint64_t factor = 8;
  /// Bytes at the peak, for each element of what is decoded at once.
  uint64_t bytes_per_element = 0;
  /// Bytes for each pixel of the whole image.
  uint64_t bytes_per_pixel = 0;
  /// A tile's side is a multiple of this many elements.
  uint64_t multiple = 4;
};

/// The smallest tile, in elements of a side: in smaller ones, what a tile shows
/// depends too much on where the image is cut.
inline constexpr uint64_t least_tile = 32;

/// Returns the bytes that decoding in tiles of that side needs; 0: in one
/// piece. Buffers of a fixed size are included.
uint64_t bytes_to_decode(const decode_need& of, uint64_t tile);

/// Returns whether that many bytes fit into the share of `free` bytes that is
/// used, so that others still find some.
bool fits_memory(uint64_t bytes, uint64_t free);

/// Returns whether a latent can be decoded in one piece beside decodings that
/// need `others` bytes together.
bool fits_beside(const decode_need& of, uint64_t others, uint64_t free);

/// Returns the side of the tiles, in elements, in which a latent is decoded: 0,
/// in one piece, if that fits; otherwise the greatest that fits; nothing if the
/// smallest does not.
std::optional<uint64_t> tile_side(const decode_need& of, uint64_t free);

/// Returns the side to try after a decoding in tiles of that side ran out of
/// memory; nothing after the smallest.
std::optional<uint64_t> smaller_tile(const decode_need& of, uint64_t tile);

} // namespace atelier::gpu
