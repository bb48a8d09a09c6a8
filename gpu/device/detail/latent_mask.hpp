// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu::detail {

/// Returns an image's mask in the size of its latent, [1, height, width]: the
/// pixel in the corner of each cell, as in diffusers. Where a part of the mask
/// is so thin that it holds no such pixel, its cells are set, since otherwise
/// nothing would be repainted there.
/// @param mask [1, h, w], 0 or 1, on any device
torch::Tensor latent_mask(const torch::Tensor& mask, int64_t height,
                          int64_t width);

} // namespace atelier::gpu::detail
