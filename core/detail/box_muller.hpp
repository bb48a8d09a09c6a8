// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace atelier::core::detail {

/// Number of values that are transformed together: the first eight of a chunk
/// give the radii, the last eight the angles.
inline constexpr size_t box_muller_chunk = 16;

/// Turns uniform values in [0, 1) into normal ones in place, chunk by chunk.
/// Values after the last whole chunk stay unchanged. Uses only IEEE operations
/// with specified rounding, so that every instruction set and every device
/// gives the same bits.
/// Threads: any.
/// Source:  the steps and constants of PyTorch 2.13.0,
///          ATen/native/cpu/DistributionTemplates.h and avx_mathfun.h;
///          polynomials of Cephes.
void box_muller(std::span<float> data);

} // namespace atelier::core::detail
