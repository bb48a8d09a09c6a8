// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace atelier::gpu {

/// What the LibTorch of this process is and may use.
struct torch_info {
  /// As LibTorch writes it, such as "2.13.0".
  std::string version;
  /// Threads that one operator may use.
  int intra_op_threads = 0;
  /// Threads that run independent operators.
  int inter_op_threads = 0;
  /// CUDA devices that LibTorch can use; 0 with a CPU build.
  int cuda_devices = 0;
};

/// Describe the LibTorch that this process runs with.
/// Threads: any.
[[nodiscard]] torch_info describe_torch();

} // namespace atelier::gpu
