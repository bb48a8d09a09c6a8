// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_attention.hpp>

#include <cstdint>

namespace atelier::gpu::host::detail {

/// Queries of a task of an attention_job.
constexpr int64_t block_queries = 384;

/// Returns the number of tasks of each row and head.
int64_t count_query_blocks(const attention_job& job);

} // namespace atelier::gpu::host::detail
