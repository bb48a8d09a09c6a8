// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <vector>

namespace atelier::gpu::detail {

/// Returns the rows of a matrix, each divided by its length.
/// Throws c10::Error if a length is 0 or not finite.
std::vector<std::vector<float>> unit_vectors(const torch::Tensor& rows);

} // namespace atelier::gpu::detail
