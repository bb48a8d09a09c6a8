// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <torch/torch.h>

namespace atelier::gpu::detail {

/// Returns the Frechet distance between the normal distributions that fit two
/// sets of features best. The sets are [n, d] and [m, d]; the result is
/// computed in float64 on the CPU. Sets of few rows are further apart than the
/// distributions they are drawn from, so compare only sets of equal size.
/// Source: Heusel et al., GANs trained by a two time-scale update rule (NIPS
/// 2017), equation 6.
/// @pre n > 1 and m > 1
double frechet_distance(const torch::Tensor& a, const torch::Tensor& b);

} // namespace atelier::gpu::detail
