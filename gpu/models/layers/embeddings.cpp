// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/embeddings.hpp>

#include <cmath>

namespace atelier::gpu::detail {

torch::Tensor embed_numbers(const torch::Tensor& x, int64_t dim,
                            bool cosines_first, double freq_shift) {
  const auto half = dim / 2;
  const auto exponents =
    torch::arange(
      half, torch::TensorOptions().dtype(torch::kFloat32).device(x.device()))
      .mul(-std::log(10'000.0))
      .div(static_cast<double>(half) - freq_shift);
  const auto angles =
    x.to(torch::kFloat32).unsqueeze(1) * exponents.exp().unsqueeze(0);
  auto out = cosines_first ? torch::cat({angles.cos(), angles.sin()}, 1)
                           : torch::cat({angles.sin(), angles.cos()}, 1);
  return dim % 2 == 0 ? out : torch::constant_pad_nd(out, {0, 1});
}

embedding_layers::embedding_layers(weights& from, const std::string& name,
                                   int64_t in, int64_t out)
  : first_(from, name + ".linear_1", in, out),
    second_(from, name + ".linear_2", out, out) {}

torch::Tensor embedding_layers::operator()(const torch::Tensor& x) const {
  auto y = first_(x);
  return second_(torch::silu_(y));
}

} // namespace atelier::gpu::detail
