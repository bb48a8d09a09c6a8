// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_norm.hpp>

#include <cstdint>

namespace atelier::gpu::host::detail {

/// Pixels of a task of a group_norm_job. Fixed, so that sums do not depend on
/// what else is computed.
constexpr int64_t block_pixels = 128;

/// Return the channels of all parts, and the tasks of each row.
int64_t count_channels(const group_norm_job& job);
int64_t count_blocks(const group_norm_job& job);

} // namespace atelier::gpu::host::detail
