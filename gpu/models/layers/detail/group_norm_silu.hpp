// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/detail/norm_kernels.hpp>

#include <torch/torch.h>

namespace atelier::gpu::detail {

/// A group norm over n rows, folded into one multiplication and one addition
/// for each channel.
struct folded_norm {
  /// [n, c], float32, contiguous.
  torch::Tensor factor;
  /// As factor.
  torch::Tensor offset;
};

/// Whether `x` [n, c, h, w] lies where the loops of norm_kernels can take it:
/// on the CPU, in float32 or bfloat16, contiguous or channels-last.
bool has_norm_kernels(const torch::Tensor& x);

/// Reads `x` once for its groups' means and variances. The sums are taken in
/// an order that depends on the shape alone, in double precision.
/// @pre has_norm_kernels(x)
folded_norm fold_group_norm(const torch::Tensor& x, int64_t groups,
                            const torch::Tensor& weight,
                            const torch::Tensor& bias, double eps);

/// Writes the normalised rows of `x`, which may be some lines of what the norm
/// was folded for, to `out` of the same shape and strides; they may be the
/// same.
/// @pre has_norm_kernels(x)
void apply_norm(const torch::Tensor& x, const folded_norm& norm,
                after_scaling then, const torch::Tensor& out);

/// Returns group_norm(x), or silu of it, for x [n, c, h, w] of any device, type
/// and memory format, which the result keeps.
torch::Tensor normalise_groups(const torch::Tensor& x, int64_t groups,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias, double eps,
                               after_scaling then);

} // namespace atelier::gpu::detail
