// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/norm_kernels.hpp>

#include <torch/torch.h>

namespace atelier::gpu::detail {

/// A group norm over n rows, folded into one multiplication and one addition
/// per channel.
struct folded_norm {
  /// [n, c], float32, contiguous.
  torch::Tensor factor;
  /// Shaped as `factor`.
  torch::Tensor offset;
};

/// Returns whether the loops of norm_kernels can process `x` [n, c, h, w]: it
/// is on the CPU, in float32 or bfloat16, contiguous or channels-last.
bool has_norm_kernels(const torch::Tensor& x);

/// Reads `x` once to compute its groups' means and variances, in double
/// precision and in an order that depends only on the shape.
/// @pre has_norm_kernels(x)
folded_norm fold_group_norm(const torch::Tensor& x, int64_t groups,
                            const torch::Tensor& weight,
                            const torch::Tensor& bias, double eps);

/// Writes the normalised rows of `x` to `out`, of the same shape and strides.
/// `x` may be some of the lines that the norm was folded for, and `out` may be
/// `x`.
/// @pre has_norm_kernels(x)
void apply_norm(const torch::Tensor& x, const folded_norm& norm,
                after_scaling then, const torch::Tensor& out);

/// Returns group_norm(x), or SiLU of it, for x [n, c, h, w] on any device and
/// of any type and memory format, which the result keeps.
torch::Tensor normalise_groups(const torch::Tensor& x, int64_t groups,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias, double eps,
                               after_scaling then);

} // namespace atelier::gpu::detail
