// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/training/loops/image_batch.hpp>
#include <atelier/training/scene.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// Draws standard normal noise of shape `shape`, on the CPU in float32.
torch::Tensor draw_noise(torch::IntArrayRef shape, core::philox& from);

/// Draws noise of shape `shape` for each number from the number's own stream
/// (data_use::noise). Returns [numbers, ...].
/// @pre the first size of `shape` is 1
torch::Tensor draw_noise(torch::IntArrayRef shape, uint64_t seed,
                         const std::vector<uint64_t>& numbers);

/// Draws images of scenes: [n, 3, side, side] in -1..1, on the CPU.
torch::Tensor draw_scenes(std::span<const scene> scenes, uint32_t side_px);

/// Returns a batch's images, [count, 3, side, side], on the CPU.
torch::Tensor to_tensor(const image_batch& x);

/// Converts one image [3, h, w] to bytes. Values outside -1..1 are clamped.
image::bitmap to_image(const torch::Tensor& planes);

/// Returns part number `part` of `parts` nearly equal parts of the first axis.
torch::Tensor part_of(const torch::Tensor& x, size_t part, size_t parts);

} // namespace atelier::gpu
