// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::gpu::host {

/// Returns whether kernels of this folder are compiled for this processor: it
/// has AVX2, FMA, BMI and BMI2. Callers use LibTorch's operators on others.
/// AVX-512 (F, BW, CD, DQ, VL) and its BF16 are used where the processor has
/// them; without BF16, bfloat16 is widened to float32.
/// Threads: any.
bool runs_kernels();

} // namespace atelier::gpu::host
