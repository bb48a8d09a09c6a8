// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/norms.hpp>

namespace atelier::gpu::detail {

group_norm::group_norm(weights& from, const std::string& name, int64_t channels,
                       int64_t groups, double eps)
  : weight_(from.take(name + ".weight", {channels})),
    bias_(from.take(name + ".bias", {channels})),
    groups_(groups),
    eps_(eps) {}

torch::Tensor group_norm::operator()(const torch::Tensor& x,
                                     after_norm then) const {
  auto out = torch::group_norm(x, groups_, weight_, bias_, eps_);
  return then == after_norm::silu ? torch::silu_(out) : out;
}

torch::Tensor group_norm::shifted(const torch::Tensor& x,
                                  const torch::Tensor& shift,
                                  after_norm then) const {
  return (*this)(x + shift.unsqueeze(-1).unsqueeze(-1), then);
}

torch::Tensor group_norm::joined(const torch::Tensor& x, const torch::Tensor& y,
                                 after_norm then) const {
  return (*this)(torch::cat({x, y}, 1), then);
}

uint64_t group_norm::bytes() const {
  return weight_.nbytes() + bias_.nbytes();
}

layer_norm::layer_norm(weights& from, const std::string& name, int64_t width)
  : weight_(from.take(name + ".weight", {width})),
    bias_(from.take(name + ".bias", {width})) {}

torch::Tensor layer_norm::operator()(const torch::Tensor& x) const {
  return torch::layer_norm(x, weight_.sizes(), weight_, bias_);
}

uint64_t layer_norm::bytes() const {
  return weight_.nbytes() + bias_.nbytes();
}

} // namespace atelier::gpu::detail
