// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/training/loops/picture_batch.hpp>
#include <atelier/training/scene.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// Draws standard normal noise of that shape, on the CPU in float32.
torch::Tensor draw_noise(torch::IntArrayRef shape, core::philox& from);

/// Draws noise of `shape`, whose first side is 1, for each number, in streams
/// of its own (data_use::noise): [numbers, ...].
torch::Tensor draw_noise(torch::IntArrayRef shape, uint64_t seed,
                         const std::vector<uint64_t>& numbers);

/// Draws pictures of scenes: [n, 3, side, side] in -1..1, on the CPU.
torch::Tensor draw_scenes(std::span<const scene> scenes, uint32_t side_px);

/// Returns a batch's pictures, [count, 3, side, side], on the CPU.
torch::Tensor to_tensor(const picture_batch& x);

/// Turns one picture [3, h, w] in about -1..1 into bytes.
image::picture to_picture(const torch::Tensor& planes);

/// Returns the `part`th of `parts` nearly equal parts of the first axis.
torch::Tensor part_of(const torch::Tensor& x, size_t part, size_t parts);

} // namespace atelier::gpu
