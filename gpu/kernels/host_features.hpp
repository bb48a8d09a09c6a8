// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::gpu::host {

/// Returns whether kernels of this folder are compiled for the instruction set
/// in use (core/instruction_set.hpp). Callers use LibTorch's operators
/// otherwise. Where the set lacks BF16, bfloat16 is widened to float32.
/// Threads: any.
bool runs_kernels();

} // namespace atelier::gpu::host
