// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_dense.hpp>

#include <cstdint>

namespace atelier::gpu::host {

/// Tokens of several heads: head h of token t of row n stands at
/// n * row_stride + t * token_stride + h * head_width, counted in elements.
struct attention_input {
  const void* tokens = nullptr;
  int64_t row_stride = 0;
  int64_t token_stride = 0;
};

/// softmax(scale * Q K^T) V for each row and head. Scores are never stored but
/// for a few queries and keys at a time. A row's result depends on that row
/// alone, bit for bit.
/// Source: Dao et al., FlashAttention, algorithm 1.
struct attention_job {
  element type = element::float32;
  attention_input queries;
  attention_input keys;
  attention_input values;
  int64_t rows = 0;
  int64_t heads = 0;
  /// Even.
  int64_t head_width = 0;
  int64_t query_tokens = 0;
  int64_t key_tokens = 0;
  float scale = 1;
  /// As the queries.
  void* out = nullptr;
  int64_t out_row_stride = 0;
  int64_t out_token_stride = 0;
};

/// Returns into how many independent tasks a job falls.
int64_t count_attention_tasks(const attention_job& job);

/// Does tasks first..last of a job.
/// Threads: as run_dense.
void run_attention(const attention_job& job, int64_t first, int64_t last);

} // namespace atelier::gpu::host
