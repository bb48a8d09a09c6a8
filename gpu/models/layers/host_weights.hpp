// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/kernels/host_dense.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace atelier::gpu::detail {

/// The matrix of a linear layer or convolution, packed for
/// gpu/kernels/host_dense.
class host_weights {
public:
  host_weights() = default;

  /// Allocates memory for `columns` and for pieces with these numbers of
  /// channels.
  host_weights(host::element type, int64_t columns,
               std::vector<int64_t> channels);

  /// Packs columns from `at` on of pieces from `piece` on. `from` is [columns,
  /// channels] or [columns, channels, pieces], with any strides.
  void put(size_t piece, int64_t at, const torch::Tensor& from);

  /// Adds to the bias of columns from `at` on.
  void put_bias(int64_t at, const torch::Tensor& bias);

  bool empty() const {
    return !packed_.defined();
  }

  size_t pieces() const {
    return channels_.size();
  }

  int64_t columns() const {
    return columns_;
  }

  /// Returns the channels of a piece.
  int64_t channels(size_t piece) const {
    return channels_.at(piece);
  }

  /// Throws c10::Error unless `x`, of that many channels, is an input of a
  /// piece: the kernels read as many channels as were packed.
  void expect(size_t piece, const torch::Tensor& x, int64_t channels) const;

  /// Sets a job's fields that describe the weights.
  void prepare(host::dense_job& job) const;

  uint64_t bytes() const;

  /// Returns bytes() of weights that are made so.
  static uint64_t bytes_of(host::element type, int64_t columns,
                           const std::vector<int64_t>& channels);

private:
  host::element type_ = host::element::float32;
  int64_t columns_ = 0;
  int64_t panel_elements_ = 0;
  std::vector<int64_t> channels_;
  torch::Tensor packed_;
  torch::Tensor bias_;
  torch::Tensor zeros_;
};

/// Runs a whole job on LibTorch's threads.
void run_whole(const host::dense_job& job);

} // namespace atelier::gpu::detail
