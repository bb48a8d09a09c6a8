// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/torch_info.hpp>

#include <torch/torch.h>

namespace atelier::gpu {

torch_info describe_torch() {
  return {
    .version = TORCH_VERSION,
    .intra_op_threads = at::get_num_threads(),
    .inter_op_threads = static_cast<int>(at::get_num_interop_threads()),
    .cuda_devices = static_cast<int>(torch::cuda::device_count()),
  };
}

} // namespace atelier::gpu
