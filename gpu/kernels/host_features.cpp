// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/host_features.hpp>

namespace atelier::gpu::host {

bool runs_kernels() {
  return core::fastest_in_use(detail::compiled_targets()) != nullptr;
}

} // namespace atelier::gpu::host
