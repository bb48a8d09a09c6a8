// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_dense.hpp>

#include <cstdint>

namespace atelier::gpu::host {

/// Tokens of several heads. Head h of token t of row n begins at element n *
/// row_stride + t * token_stride + h * head_width.
struct attention_input {
  const void* tokens = nullptr;
  int64_t row_stride = 0;
  int64_t token_stride = 0;
};

/// Computes softmax(scale * Q K^T) V for each row and head. Only the scores of
/// a few queries and keys are stored at a time. A row's result depends only on
/// that row, bit for bit.
/// Source: Dao et al., FlashAttention, algorithm 1.
struct attention_job {
  element type = element::float32;
  attention_input queries;
  attention_input keys;
  attention_input values;
  int64_t rows = 0;
  int64_t heads = 0;
  /// Must be even.
  int64_t head_width = 0;
  int64_t query_tokens = 0;
  int64_t key_tokens = 0;
  float scale = 1;
  /// Laid out as the queries.
  void* out = nullptr;
  int64_t out_row_stride = 0;
  int64_t out_token_stride = 0;
};

/// Returns the number of independent tasks in a job.
int64_t count_attention_tasks(const attention_job& job);

/// Runs tasks first..last of a job.
/// Threads: as run_dense.
void run_attention(const attention_job& job, int64_t first, int64_t last);

} // namespace atelier::gpu::host
