// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace atelier::gpu {

/// Version and resources of the LibTorch of this process.
struct torch_info {
  /// The version as LibTorch writes it, such as "2.13.0".
  std::string version;
  /// Threads that one operator may use.
  int intra_op_threads = 0;
  /// Threads that run independent operators.
  int inter_op_threads = 0;
  /// CUDA devices that LibTorch can use; 0 with a CPU build.
  int cuda_devices = 0;
};

/// Returns the version and resources of this process's LibTorch.
/// Threads: any.
[[nodiscard]] torch_info describe_torch();

} // namespace atelier::gpu
