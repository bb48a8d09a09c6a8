// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/layers/host_weights.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace atelier::gpu::detail {

/// Where a square kernel lies over its input for each result.
struct kernel_grid {
  int64_t kernel = 3;
  int64_t stride = 1;
  /// Zeros before the first row and the first column.
  int64_t rows_before = 1;
  int64_t columns_before = 1;
};

/// Returns how many channels the kernels read for weights of `channels` in that
/// type: bfloat16 are read in pairs.
int64_t readable_channels(int64_t channels, host::element type);

/// Returns `x` [n, c, h, w] or weights [out, c, taps] with zeros up to
/// `channels`; `x` itself if it has them.
torch::Tensor with_channels(const torch::Tensor& x, int64_t channels);

/// Convolves the first of `inputs`, seen as `first` describes (its pixels and
/// stored sizes are set here), adds the products of one pixel of each of the
/// others, the bias and `onto` if defined, and writes to `out` [n, columns, h,
/// w], channels-last. `onto` may be `out`.
/// Throws c10::Error if the kernels would read or write beyond a tensor.
/// Threads: any number at once.
void convolve(const host_weights& by, const kernel_grid& grid,
              const std::vector<torch::Tensor>& inputs, host::dense_input first,
              const torch::Tensor& onto, const torch::Tensor& out);

} // namespace atelier::gpu::detail
