// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::gpu::host {

/// Whether this processor runs the kernels of this folder on float32
/// (AVX-512 F, BW, DQ and VL), and whether also on bfloat16. False on other
/// processors, where callers use LibTorch's operators instead.
/// Threads: any.
bool runs_float32();
bool runs_bfloat16();

} // namespace atelier::gpu::host
