// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/gpu/models/layers/placement.hpp>

namespace atelier::gpu {

core::result<torch::Device> device_named(const std::string& name) {
  try {
    const torch::Device out{name};
    if (out.is_cpu())
      return out;
    if (out.is_cuda() && out.index() < torch::cuda::device_count()
        && torch::cuda::is_available())
      return out;
    return core::fail(
      core::ec::not_found,
      "device {} does not exist: this LibTorch can use the CPU and {} "
      "CUDA devices",
      name, torch::cuda::device_count());
  } catch (const c10::Error&) {
    return core::fail(core::ec::invalid_argument,
                      "device '{}' is not one of cpu, cuda and cuda:N", name);
  }
}

} // namespace atelier::gpu
