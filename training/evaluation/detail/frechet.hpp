// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <torch/torch.h>

namespace atelier::gpu::detail {

/// Returns the Frechet distance of the normal distributions that fit two sets
/// of features best: [n, d] and [m, d], in float64 on the CPU. Sets of few
/// rows are further apart than what they are drawn from: compare those of
/// equal size.
/// Source: Heusel et al., GANs trained by a two time-scale update rule (NIPS
/// 2017), equation 6.
/// @pre n > 1 and m > 1
double frechet_distance(const torch::Tensor& a, const torch::Tensor& b);

} // namespace atelier::gpu::detail
