// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/host_activation.hpp>
#include <atelier/gpu/models/layers/activations.hpp>
#include <atelier/gpu/models/layers/detail/host_side.hpp>

namespace atelier::gpu::detail {

namespace {

void apply(host::activation function, host::element type,
           const torch::Tensor& from, const torch::Tensor& to) {
  host::activation_job job;
  job.type = type;
  job.function = function;
  job.count = from.numel();
  job.in = from.const_data_ptr();
  job.out = to.mutable_data_ptr();
  spread(count_activation_tasks(job), [&job](int64_t first, int64_t last) {
    run_activation(job, first, last);
  });
}

torch::Tensor applied(host::activation function, host::element type,
                      const torch::Tensor& x) {
  const auto from = x.is_non_overlapping_and_dense() ? x : x.contiguous();
  auto out = torch::empty_like(from);
  apply(function, type, from, out);
  return out;
}

} // namespace

torch::Tensor silu_of(const torch::Tensor& x) {
  const auto type = host_element(x);
  return type ? applied(host::activation::silu, *type, x) : torch::silu(x);
}

torch::Tensor silu_in_place(torch::Tensor x) {
  const auto type = host_element(x);
  if (!type)
    return torch::silu_(x);
  if (!x.is_non_overlapping_and_dense())
    return x.copy_(applied(host::activation::silu, *type, x));
  apply(host::activation::silu, *type, x, x);
  return x;
}

torch::Tensor gelu_tanh_of(const torch::Tensor& x) {
  const auto type = host_element(x);
  return type ? applied(host::activation::gelu_tanh, *type, x)
              : torch::gelu(x, "tanh");
}

} // namespace atelier::gpu::detail
