// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_dense.hpp>

#include <cstdint>

namespace atelier::gpu::host::detail {

/// Rows of a task of a dense_job: their sums stay in the second-level cache.
constexpr int64_t block_rows = 192;

/// Returns the number of panels of columns, each of which is a task of every
/// block of rows.
int64_t count_panels(const dense_job& job);

/// Writes the addresses of the pixels of rows first..first + count: piece p of
/// row i to to[p * block_rows + i].
void find_rows(const dense_job& job, int64_t first, int64_t count,
               const void** to);

} // namespace atelier::gpu::host::detail
