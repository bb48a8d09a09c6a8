// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/torch_generator.hpp>
#include <atelier/core/torch_noise.hpp>

namespace atelier::core {

void torch_randn(uint64_t seed, std::span<float> out) {
  torch_generator{seed}.fill(out);
}

} // namespace atelier::core
