// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/embedding/detail/unit_vectors.hpp>

#include <cmath>

namespace atelier::gpu::detail {

std::vector<std::vector<float>> unit_vectors(const torch::Tensor& rows) {
  std::vector<std::vector<float>> out;
  const auto states = rows.to(torch::kCPU, torch::kFloat32);
  for (int64_t i = 0; i < states.size(0); ++i) {
    const auto length = states[i].norm().item<double>();
    TORCH_CHECK(std::isfinite(length) && length > 0, "a vector has the length ",
                length);
    const auto vector = (states[i] / length).contiguous();
    const auto* const first = vector.const_data_ptr<float>();
    out.emplace_back(first, first + vector.numel());
  }
  return out;
}

} // namespace atelier::gpu::detail
