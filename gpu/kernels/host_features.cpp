// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/host_features.hpp>

#include <algorithm>

namespace atelier::gpu::host {

bool runs_kernels() {
  static const bool found =
    std::ranges::any_of(detail::compiled_targets(),
                        [](const auto* target) { return target->runs(); });
  return found;
}

} // namespace atelier::gpu::host
