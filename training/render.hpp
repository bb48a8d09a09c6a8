// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>
#include <span>

namespace atelier::gpu {

/// Draw a scene, smoothed by its objects' signed distances: coverage 0.5 - d
/// for a pixel at d pixels from an outline, colours mixed in sRGB, each channel
/// rounded to the nearest whole number, halves upwards. All machines with
/// IEEE 754 floats draw the same bytes.
/// Shape:   rgb [side_px, side_px, 3].
/// Threads: any.
/// @pre rgb has 3 * side_px * side_px bytes; side_px >= 1
void render(const scene& what, uint32_t side_px, std::span<uint8_t> rgb);

image::picture render(const scene& what, uint32_t side_px = 128);

/// Draw scenes as networks take them: each byte x of render becomes
/// x / 127.5 - 1.
/// Shape:   out [scenes, 3, side_px, side_px].
/// Threads: any.
/// @pre out has scenes.size() * 3 * side_px * side_px elements
void render_batch(std::span<const scene> scenes, uint32_t side_px,
                  std::span<float> out);

/// Turn pixels into what networks take, as render_batch does.
/// Shape:   rgb [height, width, 3] -> out [3, height, width].
/// @pre the picture has three channels, out as many elements as it bytes
void to_planes(const image::pixel_view& rgb, std::span<float> out);

} // namespace atelier::gpu
