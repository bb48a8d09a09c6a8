// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/networks/unet_layers.hpp>

#include <fmt/format.h>

#include <cmath>

namespace atelier::gpu::detail {

resnet_net::resnet_net(int64_t in, int64_t out, const unet_config& config,
                       const first_weights& from)
  : scale_shift_(config.time_scale_shift) {
  norm1_ = make_layer<group_norm_net>(*this, "norm1", config.norm_groups, in,
                                      config.norm_eps);
  conv1_ = make_layer<conv_net>(*this, "conv1", in, out, 3, from);
  time_ =
    make_layer<linear_net>(*this, "time_emb_proj", config.time_embedding_dim,
                           scale_shift_ ? 2 * out : out, from);
  norm2_ = make_layer<group_norm_net>(*this, "norm2", config.norm_groups, out,
                                      config.norm_eps);
  conv2_ = make_layer<conv_net>(*this, "conv2", out, out, 3, from);
  if (in != out)
    shortcut_ = make_layer<conv_net>(*this, "conv_shortcut", in, out, 1, from);
}

torch::Tensor resnet_net::operator()(const torch::Tensor& x,
                                     const torch::Tensor& time) const {
  auto y = (*conv1_)(at::silu((*norm1_)(x)));
  const auto shift = (*time_)(time).unsqueeze(-1).unsqueeze(-1);
  if (scale_shift_) {
    const auto parts = shift.chunk(2, 1);
    y = (*norm2_)(y) * (parts[0] + 1) + parts[1];
  } else {
    y = (*norm2_)(y + shift);
  }
  y = (*conv2_)(at::silu(y));
  return y + (shortcut_ ? (*shortcut_)(x) : x);
}

transformer_block_net::attention transformer_block_net::add_attention(
  const std::string& name, int64_t width, int64_t seen,
  const first_weights& from) {
  const auto linear = [&](const char* which, int64_t in, with_bias biased) {
    return make_layer<linear_net>(*this, name + which, in, width, from, biased);
  };
  attention out;
  out.q = linear(".to_q", width, with_bias::no);
  out.k = linear(".to_k", seen, with_bias::no);
  out.v = linear(".to_v", seen, with_bias::no);
  out.out = linear(".to_out.0", width, with_bias::yes);
  return out;
}

transformer_block_net::transformer_block_net(int64_t width, int64_t heads,
                                             int64_t context_width,
                                             const first_weights& from)
  : heads_(heads) {
  norm1_ = make_layer<layer_norm_net>(*this, "norm1", width);
  self_ = add_attention("attn1", width, width, from);
  norm2_ = make_layer<layer_norm_net>(*this, "norm2", width);
  cross_ = add_attention("attn2", width, context_width, from);
  norm3_ = make_layer<layer_norm_net>(*this, "norm3", width);
  gated_ =
    make_layer<linear_net>(*this, "ff.net.0.proj", width, 8 * width, from);
  out_ = make_layer<linear_net>(*this, "ff.net.2", 4 * width, width, from);
}

torch::Tensor transformer_block_net::operator()(
  const torch::Tensor& x, const torch::Tensor& context) const {
  const auto own = split_heads(
    joined((*norm1_)(x), {self_.q.get(), self_.k.get(), self_.v.get()}), 3,
    heads_);
  auto y = x + (*self_.out)(attend(own[0], own[1], own[2]));
  const auto q = split_heads((*cross_.q)((*norm2_)(y)), 1, heads_);
  const auto seen =
    split_heads(joined(context, {cross_.k.get(), cross_.v.get()}), 2, heads_);
  y = y + (*cross_.out)(attend(q[0], seen[0], seen[1]));
  const auto parts = (*gated_)((*norm3_)(y)).chunk(2, -1);
  return y + (*out_)(parts[0] * at::gelu(parts[1]));
}

transformer_net::transformer_net(const unet_config& config, int64_t width,
                                 int64_t heads, int64_t blocks,
                                 const first_weights& from) {
  norm_ =
    make_layer<group_norm_net>(*this, "norm", config.norm_groups, width, 1e-6);
  if (config.use_linear_projection)
    in_ = make_layer<linear_net>(*this, "proj_in", width, width, from);
  else
    conv_in_ = make_layer<conv_net>(*this, "proj_in", width, width, 1, from);
  for (int64_t i = 0; i < blocks; ++i)
    blocks_.push_back(make_layer<transformer_block_net>(
      *this, fmt::format("transformer_blocks.{}", i), width, heads,
      config.cross_attention_dim, from));
  if (config.use_linear_projection)
    out_ = make_layer<linear_net>(*this, "proj_out", width, width, from);
  else
    conv_out_ = make_layer<conv_net>(*this, "proj_out", width, width, 1, from);
}

torch::Tensor transformer_net::operator()(const torch::Tensor& x,
                                          const torch::Tensor& context) const {
  const auto to_tokens = [](const torch::Tensor& y) {
    return y.flatten(2).transpose(1, 2);
  };
  const auto to_pixels = [&](const torch::Tensor& y) {
    return y.transpose(1, 2).unflatten(2, {x.size(2), x.size(3)});
  };
  auto y = (*norm_)(x);
  y = in_ ? (*in_)(to_tokens(y)) : to_tokens((*conv_in_)(y));
  for (const auto& block : blocks_)
    y = (*block)(y, context);
  return x + (out_ ? to_pixels((*out_)(y)) : (*conv_out_)(to_pixels(y)));
}

pooling_net::pooling_net(int64_t in, int64_t out, int64_t heads,
                         const first_weights& from)
  : heads_(heads) {
  norm1_ = make_layer<layer_norm_net>(*this, "norm1", in);
  pool_ = make_layer<position_net>(
    *this, "pool",
    from.normal({1, in}, 1 / std::sqrt(static_cast<double>(in))));
  k_ = make_layer<linear_net>(*pool_, "k_proj", in, in, from);
  q_ = make_layer<linear_net>(*pool_, "q_proj", in, in, from);
  v_ = make_layer<linear_net>(*pool_, "v_proj", in, in, from);
  proj_ = make_layer<linear_net>(*this, "proj", in, out, from);
  norm2_ = make_layer<layer_norm_net>(*this, "norm2", out);
}

torch::Tensor pooling_net::operator()(const torch::Tensor& context) const {
  const auto x = (*norm1_)(context);
  const auto summary = x.mean(1, true) + pool_->row;
  const auto q = split_heads((*q_)(summary), 1, heads_);
  const auto seen = split_heads(
    joined(at::cat({summary, x}, 1), {k_.get(), v_.get()}), 2, heads_);
  return (*norm2_)((*proj_)(attend(q[0], seen[0], seen[1]).squeeze(1)));
}

torch::Tensor embed_timesteps(const torch::Tensor& x, int64_t width,
                              bool cosines_first, double freq_shift) {
  const auto half = width / 2;
  const auto rates =
    at::arange(half, at::TensorOptions(torch::kFloat32).device(x.device()))
      .mul(-std::log(10'000.0) / (static_cast<double>(half) - freq_shift))
      .exp();
  const auto angles = x.to(torch::kFloat32).unsqueeze(1) * rates.unsqueeze(0);
  auto out = cosines_first ? at::cat({angles.cos(), angles.sin()}, 1)
                           : at::cat({angles.sin(), angles.cos()}, 1);
  return width % 2 == 0 ? out : at::constant_pad_nd(out, {0, 1});
}

} // namespace atelier::gpu::detail
