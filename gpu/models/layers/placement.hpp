// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>

#include <torch/torch.h>

#include <string>

namespace atelier::gpu {

/// The device of a network's weights and the type in which it computes.
struct placement {
  torch::Device device{torch::kCPU};
  torch::Dtype dtype = torch::kFloat32;
};

/// Returns the device with the name cpu, cuda or cuda:N.
/// Errors: ec::invalid_argument for another name, ec::not_found for a device
///         that this LibTorch cannot use.
core::result<torch::Device> device_named(const std::string& name);

} // namespace atelier::gpu
