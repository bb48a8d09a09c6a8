// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu::host::detail {

/// Numbers of a task of an activation_job.
constexpr int64_t block_numbers = 16384;

} // namespace atelier::gpu::host::detail
