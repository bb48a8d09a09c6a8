// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace atelier::core::detail {

/// Values are transformed this many at a time: the first eight of a chunk give
/// the radii, the last eight the angles.
inline constexpr size_t box_muller_chunk = 16;

/// Turn uniform values of [0, 1) into normal ones, in place, chunk by chunk;
/// what follows the last whole chunk stays as it is. Only IEEE operations with
/// stated rounding are used, so that every device gives the same bits.
/// Threads: any.
/// Source:  the steps and constants of PyTorch 2.13.0, ATen/native/cpu/
///          DistributionTemplates.h and avx_mathfun.h; polynomials of Cephes.
void box_muller(std::span<float> data);

/// Do the same with the instructions that every processor has: the same bits,
/// slower.
void box_muller_portable(std::span<float> data);

} // namespace atelier::core::detail
