// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/detail/tower_layers.hpp>

#include <optional>

namespace atelier::gpu::detail {

namespace {

torch::Tensor activated(torch::Tensor x, clip_activation by) {
  switch (by) {
    case clip_activation::quick_gelu:
      return x.mul_(at::sigmoid(x * 1.702));
    case clip_activation::gelu:
      return at::gelu_(x);
    case clip_activation::gelu_tanh:
      return at::gelu_(x, "tanh");
  }
  return x;
}

} // namespace

tower_norm tower_norm::take(weights& from, const std::string& name,
                            const tower_shape& shape) {
  return {from.take(name + ".weight", {shape.width}),
          from.take(name + ".bias", {shape.width}), shape.eps};
}

torch::Tensor tower_norm::operator()(const torch::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, eps);
}

uint64_t tower_norm::bytes() const {
  return weight.nbytes() + bias.nbytes();
}

tower_layer tower_layer::take(weights& from, const std::string& name,
                              const tower_shape& shape) {
  const auto linear = [&](const char* part, int64_t rows, int64_t columns) {
    return linear_layer::take(from, name + part, rows, columns);
  };
  const auto width = shape.width;
  return {tower_norm::take(from, name + ".layer_norm1", shape),
          linear(".self_attn.q_proj", width, width),
          linear(".self_attn.k_proj", width, width),
          linear(".self_attn.v_proj", width, width),
          linear(".self_attn.out_proj", width, width),
          tower_norm::take(from, name + ".layer_norm2", shape),
          linear(".mlp.fc1", shape.inner, width),
          linear(".mlp.fc2", width, shape.inner),
          shape.heads,
          shape.activation};
}

torch::Tensor tower_layer::operator()(const torch::Tensor& x,
                                      bool causal) const {
  const auto n = x.size(0);
  const auto tokens = x.size(1);
  const auto split = [&](const torch::Tensor& y) {
    return y.view({n, tokens, heads, -1}).transpose(1, 2);
  };
  const auto from = norm1(x);
  const auto seen = at::scaled_dot_product_attention(
    split(query(from)), split(key(from)), split(value(from)), std::nullopt, 0.0,
    causal);
  auto y = x + out(seen.transpose(1, 2).reshape({n, tokens, -1}));
  return y.add_(narrow(activated(widen(norm2(y)), activation)));
}

uint64_t tower_layer::bytes() const {
  return norm1.bytes() + query.bytes() + key.bytes() + value.bytes()
       + out.bytes() + norm2.bytes() + widen.bytes() + narrow.bytes();
}

} // namespace atelier::gpu::detail
