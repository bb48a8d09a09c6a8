// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu::detail {

/// The number of threads with which LibTorch runs one operator on the CPU.
struct torch_threads {
  /// 0: LibTorch's choice.
  uint32_t count = 0;
  /// Whether nobody else uses LibTorch in the process.
  bool alone = false;
};

/// Applies it to the calling thread, and to those that use LibTorch for the
/// first time later only if nobody else has them.
void apply(const torch_threads& x);

} // namespace atelier::gpu::detail
