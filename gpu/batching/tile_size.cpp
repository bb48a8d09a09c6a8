// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/batching/tile_size.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

/// Buffers of a library, and the stripes of a convolution.
constexpr uint64_t fixed_bytes = uint64_t{64} << 20;

/// Tenths of the free memory that are used.
constexpr uint64_t used_tenths = 8;

uint64_t rounded(uint64_t side, uint64_t multiple) {
  return std::max(side / multiple, uint64_t{1}) * multiple;
}

uint64_t least_side(const decode_need& of) {
  return rounded(least_tile, of.multiple);
}

bool is_one_tile(const decode_need& of, uint64_t side) {
  return side >= std::max(of.height, of.width);
}

} // namespace

uint64_t bytes_to_decode(const decode_need& of, uint64_t tile) {
  const auto height = tile == 0 ? of.height : std::min(of.height, tile);
  const auto width = tile == 0 ? of.width : std::min(of.width, tile);
  return fixed_bytes + height * width * of.bytes_per_element
       + of.height * of.width * of.factor * of.factor * of.bytes_per_pixel;
}

bool fits_memory(uint64_t bytes, uint64_t free) {
  return bytes <= free / 10 * used_tenths;
}

bool fits_beside(const decode_need& of, uint64_t others, uint64_t free) {
  return fits_memory(bytes_to_decode(of, 0) + others, free);
}

std::optional<uint64_t> tile_side(const decode_need& of, uint64_t free) {
  if (fits_memory(bytes_to_decode(of, 0), free))
    return 0;
  const auto least = least_side(of);
  if (is_one_tile(of, least) || !fits_memory(bytes_to_decode(of, least), free))
    return std::nullopt;
  // Sides are few: a latent has some hundred elements.
  auto side = rounded(std::max(of.height, of.width) - 1, of.multiple);
  while (side > least && !fits_memory(bytes_to_decode(of, side), free))
    side -= of.multiple;
  return side;
}

std::optional<uint64_t> smaller_tile(const decode_need& of, uint64_t tile) {
  const auto before = tile == 0 ? std::max(of.height, of.width) : tile;
  const auto side = std::max(rounded(before / 2, of.multiple), least_side(of));
  if (side >= before)
    return std::nullopt;
  return side;
}

} // namespace atelier::gpu
