// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/networks/initialise.hpp>

#include <cmath>
#include <string_view>

namespace atelier::gpu {

void draw_parameters(torch::nn::Module& network, uint64_t seed) {
  const torch::NoGradGuard guard;
  uint64_t number = 0;
  for (auto& item : network.named_parameters()) {
    auto from = data_stream(seed, data_use::weights, number++);
    auto& x = item.value();
    if (x.dim() < 2) {
      const auto bias = std::string_view{item.key()}.ends_with("bias");
      x.fill_(bias ? 0 : 1);
      continue;
    }
    const auto inputs = x.numel() / x.size(0);
    const auto reach = 1 / std::sqrt(static_cast<double>(inputs));
    auto drawn = torch::empty(x.sizes(), torch::kFloat32);
    auto* to = drawn.mutable_data_ptr<float>();
    for (int64_t i = 0; i < drawn.numel(); ++i)
      to[i] = static_cast<float>((2 * from.uniform() - 1) * reach);
    x.copy_(drawn);
  }
}

} // namespace atelier::gpu
