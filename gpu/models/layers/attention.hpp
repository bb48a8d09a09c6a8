// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

#include <cstdint>

namespace atelier::gpu::detail {

/// Lets every token of `q` attend to the tokens of `k` and `v`: [n, tokens,
/// width] of each -> [n, tokens of q, width].
torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k,
                     const torch::Tensor& v, int64_t heads);

} // namespace atelier::gpu::detail
