// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/training/render.hpp>
#include <atelier/training/scene_digest.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace atelier::gpu {

namespace {

constexpr uint32_t side_px = 128;
constexpr size_t digits = 16;

} // namespace

std::string scene_digest(std::span<const scene> scenes,
                         std::span<const std::string> captions) {
  core::sha256_stream all;
  std::vector<uint8_t> rgb(size_t{3} * side_px * side_px);
  for (const auto& x : scenes) {
    render(x, side_px, rgb);
    all.update(std::as_bytes(std::span{rgb}));
  }
  for (const auto& x : captions)
    // The end of each caption counts.
    all.update(std::as_bytes(std::span{x.c_str(), x.size() + 1}));
  return core::to_hex(all.finish()).substr(0, digits);
}

} // namespace atelier::gpu
