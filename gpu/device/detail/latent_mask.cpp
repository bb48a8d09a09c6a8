// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/latent_mask.hpp>

#include <tuple>
#include <vector>

namespace atelier::gpu::detail {

namespace {

/// Sets each cell that has a set one among its eight neighbours.
torch::Tensor grown(const torch::Tensor& cells) {
  return torch::max_pool2d(cells, {3, 3}, {1, 1}, {1, 1});
}

} // namespace

torch::Tensor latent_mask(const torch::Tensor& mask, int64_t height,
                          int64_t width) {
  namespace nn = torch::nn::functional;
  const auto image = mask.unsqueeze(0);
  const auto corners =
    nn::interpolate(image, nn::InterpolateFuncOptions()
                             .size(std::vector<int64_t>{height, width})
                             .mode(torch::kNearest));
  const auto touched = torch::adaptive_max_pool2d(image, {height, width});
  const auto lost = std::get<0>(touched) * (1 - grown(corners));
  return torch::maximum(corners, std::get<0>(touched) * grown(lost)).squeeze(0);
}

} // namespace atelier::gpu::detail
