// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>
#include <span>

namespace atelier::gpu {

/// Draws a scene, smoothed by its objects' signed distances: a pixel at d
/// pixels from an outline has coverage 0.5 - d, colours are mixed in sRGB, and
/// each channel is rounded to the nearest whole number, halves upwards. All
/// machines with IEEE 754 floats draw the same bytes.
/// Shape:   rgb [side_px, side_px, 3].
/// Threads: any.
/// @pre rgb has 3 * side_px * side_px bytes; side_px >= 1
void render(const scene& what, uint32_t side_px, std::span<uint8_t> rgb);

image::bitmap render(const scene& what, uint32_t side_px = 128);

/// Draws scenes in the form that networks take: each byte x of render becomes x
/// / 127.5 - 1.
/// Shape:   out [scenes, 3, side_px, side_px].
/// Threads: any.
/// @pre out has scenes.size() * 3 * side_px * side_px elements
void render_batch(std::span<const scene> scenes, uint32_t side_px,
                  std::span<float> out);

/// Converts pixels to the form that networks take, as render_batch does.
/// Shape:   rgb [height, width, 3] -> out [3, height, width].
/// @pre the image has three channels, and out has as many elements as the image
///      has bytes
void to_planes(const image::pixel_view& rgb, std::span<float> out);

} // namespace atelier::gpu
