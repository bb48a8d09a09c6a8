// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <torch/torch.h>

namespace atelier::gpu::detail {

/// Returns SiLU of each number, in the shape and type of `x`. On the host a
/// result depends only on its own number, bit for bit, while LibTorch's
/// functions round the last numbers of a tensor in another way than the rest.
torch::Tensor silu_of(const torch::Tensor& x);

/// Does the same in place, and returns `x`.
torch::Tensor silu_in_place(torch::Tensor x);

/// Returns GELU of each number by its tanh approximation, likewise.
torch::Tensor gelu_tanh_of(const torch::Tensor& x);

} // namespace atelier::gpu::detail
