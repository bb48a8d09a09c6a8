// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace atelier::core {

/// Fills `out` with the bits of PyTorch's CPU generator: those of
/// torch.randn(n, generator=torch.Generator("cpu").manual_seed(seed)) in
/// float32 on an x86 CPU with AVX2, whatever CPU this runs on. Only the seed's
/// lower 32 bits count, as in PyTorch.
/// Threads: any.
/// Source:  matched bit for bit against PyTorch 2.13.0
///          (ATen/native/cpu/DistributionTemplates.h, avx_mathfun.h,
///          core/MT19937RNGEngine.h).
void torch_randn(uint64_t seed, std::span<float> out);

} // namespace atelier::core
