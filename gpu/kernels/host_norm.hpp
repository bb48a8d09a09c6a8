// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_dense.hpp>

#include <cstdint>

namespace atelier::gpu::host {

/// Group normalisation of channels-last feature maps in three steps: sums over
/// blocks of pixels (in parallel), factors of each row and channel, and their
/// application (in parallel). A row's result depends only on that row, bit for
/// bit.
struct group_norm_job {
  element type = element::float32;
  /// [n, pixels, channels] in one or two parts, whose channels are
  /// concatenated; the pixels of a part have no gaps.
  const void* parts[2] = {nullptr, nullptr};
  int64_t part_channels[2] = {0, 0};
  int64_t rows = 0;
  int64_t pixels = 0;
  int64_t groups = 1;
  double epsilon = 1e-5;
  /// [channels of all parts].
  const void* weight = nullptr;
  const void* bias = nullptr;
  /// If given, [rows, channels], added to the input.
  const void* shift = nullptr;
  /// Whether SiLU follows.
  bool silu = false;
  /// [n, pixels, channels of all parts].
  void* out = nullptr;
  /// Buffers for count_norm_sums(job) and count_norm_factors(job) numbers.
  float* sums = nullptr;
  float* factors = nullptr;
};

int64_t count_norm_sums(const group_norm_job& job);
int64_t count_norm_factors(const group_norm_job& job);

/// Returns the number of independent tasks in the first and the last step; the
/// second has one for each row.
int64_t count_norm_tasks(const group_norm_job& job);

/// Threads: as run_dense; each step begins after all tasks of the previous one.
void sum_blocks(const group_norm_job& job, int64_t first, int64_t last);
void find_factors(const group_norm_job& job, int64_t first, int64_t last);
void apply_factors(const group_norm_job& job, int64_t first, int64_t last);

} // namespace atelier::gpu::host
