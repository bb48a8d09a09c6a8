// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/kernels/host_dense.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace atelier::gpu::detail {

/// The matrix of a linear layer or convolution, laid out for
/// gpu/kernels/host_dense.
class host_weights {
public:
  host_weights() = default;

  /// Makes room for `columns` and pieces of so many channels each.
  host_weights(host::element type, int64_t columns,
               std::vector<int64_t> channels);

  /// Lays out pieces from `piece` on, of columns from `at` on: `from` is
  /// [columns, channels] or [columns, channels, pieces], of any strides.
  void put(size_t piece, int64_t at, const torch::Tensor& from);

  /// Adds to the bias of columns from `at` on.
  void put_bias(int64_t at, const torch::Tensor& bias);

  bool empty() const {
    return !packed_.defined();
  }

  /// Fills in what a job needs of the weights.
  void prepare(host::dense_job& job) const;

  uint64_t bytes() const;

private:
  host::element type_ = host::element::float32;
  int64_t columns_ = 0;
  int64_t panel_elements_ = 0;
  std::vector<int64_t> channels_;
  torch::Tensor packed_;
  torch::Tensor bias_;
  torch::Tensor zeros_;
};

/// Does all of a job on LibTorch's threads.
void run_whole(const host::dense_job& job);

} // namespace atelier::gpu::detail
