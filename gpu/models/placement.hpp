// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <torch/torch.h>

namespace atelier::gpu {

/// Where a network's weights lie and in which type it computes.
struct placement {
  torch::Device device{torch::kCPU};
  torch::Dtype dtype = torch::kFloat32;
};

} // namespace atelier::gpu
