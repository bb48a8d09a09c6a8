// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

namespace atelier::gpu::detail {

/// Returns silu(group_norm(x)) for x [n, c, h, w] of any memory format.
torch::Tensor group_norm_silu(const torch::Tensor& x, int64_t groups,
                              const torch::Tensor& weight,
                              const torch::Tensor& bias, double eps);

} // namespace atelier::gpu::detail
