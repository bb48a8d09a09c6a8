// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/clip_layers.hpp>

#include <cmath>

namespace atelier::gpu::detail {

namespace {

torch::Tensor activate(const torch::Tensor& x, clip_activation how) {
  switch (how) {
    case clip_activation::quick_gelu:
      return x * at::sigmoid(x * 1.702);
    case clip_activation::gelu:
      return at::gelu(x);
    case clip_activation::gelu_tanh:
      return at::gelu(x, "tanh");
  }
  return x;
}

} // namespace

clip_layer_net::clip_layer_net(const clip_layer_shape& shape,
                               const first_weights& from)
  : shape_(shape) {
  const auto width = static_cast<double>(shape.width);
  const auto inwards =
    1 / std::sqrt(width * 2 * static_cast<double>(shape.layers));
  const auto linear = [&](const char* name, int64_t in, int64_t out,
                          double deviation) {
    return make_layer<linear_net>(
      *this, name, from.normal({out, in}, deviation), torch::zeros({out}));
  };
  norm1_ =
    make_layer<layer_norm_net>(*this, "layer_norm1", shape.width, shape.eps);
  query_ = linear("self_attn.q_proj", shape.width, shape.width, inwards);
  key_ = linear("self_attn.k_proj", shape.width, shape.width, inwards);
  value_ = linear("self_attn.v_proj", shape.width, shape.width, inwards);
  out_ = linear("self_attn.out_proj", shape.width, shape.width,
                1 / std::sqrt(width));
  norm2_ =
    make_layer<layer_norm_net>(*this, "layer_norm2", shape.width, shape.eps);
  widen_ =
    linear("mlp.fc1", shape.width, shape.inner, 1 / std::sqrt(2 * width));
  narrow_ = linear("mlp.fc2", shape.inner, shape.width, inwards);
}

torch::Tensor clip_layer_net::operator()(const torch::Tensor& x) const {
  const auto all =
    split_heads(joined((*norm1_)(x), {query_.get(), key_.get(), value_.get()}),
                3, shape_.heads);
  const auto y = x + (*out_)(attend(all[0], all[1], all[2], shape_.causal));
  return y + (*narrow_)(activate((*widen_)((*norm2_)(y)), shape_.activation));
}

} // namespace atelier::gpu::detail
