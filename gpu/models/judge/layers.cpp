// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/layers.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace atelier::gpu::detail {

torch::Tensor first_weights::even(torch::IntArrayRef shape,
                                  int64_t fan_in) const {
  const auto most = 1 / std::sqrt(static_cast<double>(fan_in));
  return torch::empty(shape, torch::kFloat32).uniform_(-most, most, from_);
}

torch::Tensor first_weights::normal(torch::IntArrayRef shape,
                                    double deviation) const {
  return torch::empty(shape, torch::kFloat32).normal_(0, deviation, from_);
}

void place_module(torch::nn::Module& in, std::string_view path,
                  std::shared_ptr<torch::nn::Module> what) {
  const auto dot = path.find('.');
  const std::string name{path.substr(0, dot)};
  if (dot == std::string_view::npos) {
    in.register_module(name, std::move(what));
    return;
  }
  const auto children = in.named_children();
  const auto* found = children.find(name);
  const auto next =
    found != nullptr
      ? *found
      : in.register_module(name, std::make_shared<torch::nn::Module>());
  place_module(*next, path.substr(dot + 1), std::move(what));
}

linear_net::linear_net(int64_t in, int64_t out, const first_weights& from,
                       with_bias biased)
  : linear_net(from.even({out, in}, in), biased == with_bias::yes
                                           ? from.even({out}, in)
                                           : torch::Tensor{}) {}

linear_net::linear_net(const torch::Tensor& w, const torch::Tensor& b)
  : weight(register_parameter("weight", w)) {
  if (b.defined())
    bias = register_parameter("bias", b);
}

torch::Tensor joined(const torch::Tensor& x,
                     std::initializer_list<const linear_net*> layers) {
  std::vector<torch::Tensor> weights;
  std::vector<torch::Tensor> biases;
  for (const auto* layer : layers) {
    weights.push_back(layer->weight);
    if (layer->bias.defined())
      biases.push_back(layer->bias);
  }
  return at::linear(x, at::cat(weights),
                    biases.empty() ? torch::Tensor{} : at::cat(biases));
}

conv_net::conv_net(int64_t in, int64_t out, int64_t kernel,
                   const first_weights& from, int64_t stride, with_bias biased)
  : weight(register_parameter(
    "weight", from.even({out, in, kernel, kernel}, in * kernel * kernel))),
    stride_(stride),
    padding_(kernel / 2) {
  if (biased == with_bias::yes)
    bias = register_parameter("bias", from.even({out}, in * kernel * kernel));
}

conv_net::conv_net(const torch::Tensor& w, int64_t stride)
  : weight(register_parameter("weight", w)), stride_(stride), padding_(0) {}

group_norm_net::group_norm_net(int64_t groups, int64_t channels, double eps)
  : weight(register_parameter("weight", torch::ones({channels}))),
    bias(register_parameter("bias", torch::zeros({channels}))),
    groups_(groups),
    eps_(eps) {}

layer_norm_net::layer_norm_net(int64_t width, double eps)
  : weight(register_parameter("weight", torch::ones({width}))),
    bias(register_parameter("bias", torch::zeros({width}))),
    eps_(eps) {}

table_net::table_net(int64_t rows, int64_t width, double deviation,
                     const first_weights& from)
  : weight(
    register_parameter("weight", from.normal({rows, width}, deviation))) {}

std::vector<torch::Tensor> split_heads(const torch::Tensor& x, int64_t parts,
                                       int64_t heads) {
  return x.view({x.size(0), x.size(1), parts, heads, -1})
    .permute({2, 0, 3, 1, 4})
    .unbind(0);
}

// Computed explicitly: on the CPU, the fused operator's backward pass takes
// three to five times as long at these lengths (16 to 64 positions, heads 24 to
// 40 wide).
torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k,
                     const torch::Tensor& v, bool causal) {
  const auto scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  auto scores = at::matmul(q * scale, k.transpose(-1, -2));
  if (causal)
    scores = scores
           + at::full({q.size(-2), k.size(-2)},
                      -std::numeric_limits<float>::infinity(), scores.options())
               .triu(1);
  return at::matmul(at::softmax(scores, -1), v).transpose(1, 2).flatten(2);
}

} // namespace atelier::gpu::detail
