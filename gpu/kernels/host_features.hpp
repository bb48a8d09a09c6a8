// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::gpu::host {

/// Return whether this processor runs the kernels of this folder on float32
/// (AVX-512 F, BW, DQ and VL), and whether it also runs them on bfloat16. They
/// return false on other processors, where callers use LibTorch's operators
/// instead.
/// Threads: any.
bool runs_float32();
bool runs_bfloat16();

} // namespace atelier::gpu::host
