// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/activations.hpp>
#include <atelier/gpu/models/layers/embeddings.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu::detail {

namespace {

// Applies a function to each number of a tensor without gaps. On the host,
// LibTorch's vector code rounds the last numbers of a tensor in another way
// than the rest, so that a number's place would change its bits.
template <class Function>
torch::Tensor each(const torch::Tensor& x, Function function) {
  auto out = torch::empty_like(x);
  const auto* const from = x.const_data_ptr<float>();
  std::transform(
    from, from + x.numel(), out.mutable_data_ptr<float>(),
    [function](float at) { return static_cast<float>(function(double{at})); });
  return out;
}

torch::Tensor cosines_of(const torch::Tensor& x) {
  return x.is_cpu() ? each(x, [](double at) { return std::cos(at); }) : x.cos();
}

torch::Tensor sines_of(const torch::Tensor& x) {
  return x.is_cpu() ? each(x, [](double at) { return std::sin(at); }) : x.sin();
}

} // namespace

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
  const auto cosines = cosines_of(angles);
  const auto sines = sines_of(angles);
  auto out = cosines_first ? torch::cat({cosines, sines}, 1)
                           : torch::cat({sines, cosines}, 1);
  return dim % 2 == 0 ? out : torch::constant_pad_nd(out, {0, 1});
}

embedding_layers::embedding_layers(weights& from, const std::string& name,
                                   int64_t in, int64_t out)
  : first_(from, name + ".linear_1", in, out),
    second_(from, name + ".linear_2", out, out) {}

torch::Tensor embedding_layers::operator()(const torch::Tensor& x) const {
  return second_(silu_in_place(first_(x)));
}

} // namespace atelier::gpu::detail
