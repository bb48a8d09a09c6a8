// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/unet_transformer.hpp>

#include <fmt/format.h>

namespace atelier::gpu::detail {

transformer_block::transformer_block(weights& from, const std::string& name,
                                     const transformer_shape& shape,
                                     int64_t context_width)
  : norm1_(from, name + ".norm1", shape.width),
    norm2_(from, name + ".norm2", shape.width),
    cross2_(from, name + ".attn2", shape.width, shape.heads, context_width),
    norm3_(from, name + ".norm3", shape.width),
    gated_(from, name + ".ff.net.0.proj", shape.width, shape.width * 8),
    out_(from, name + ".ff.net.2", shape.width * 4, shape.width) {
  if (shape.only_cross_attention)
    cross1_.emplace(from, name + ".attn1", shape.width, shape.heads,
                    context_width);
  else
    self_.emplace(from, name + ".attn1", shape.width, shape.heads);
}

torch::Tensor transformer_block::operator()(
  torch::Tensor x, const torch::Tensor& context) const {
  if (self_)
    x = (*self_)(norm1_(x), x);
  else
    x = (*cross1_)(norm1_(x), cross1_->keys_values(context), x);
  x = cross2_(norm2_(x), cross2_.keys_values(context), x);
  return feed_forward(norm3_(x), x);
}

torch::Tensor transformer_block::feed_forward(const torch::Tensor& x,
                                              const torch::Tensor& onto) const {
  const auto both = gated_(x).chunk(2, 2);
  return out_.plus(both[0] * torch::gelu(both[1]), onto);
}

spatial_transformer::spatial_transformer(weights& from, const std::string& name,
                                         const transformer_shape& shape,
                                         const unet_config& config)
  : norm_(from, name + ".norm", shape.width, config.norm_groups, 1e-6) {
  const auto project = [&](const std::string& which) {
    return config.use_linear_projection
           ? linear{from, name + which, shape.width, shape.width}
           : linear::of_pixel(from, name + which, shape.width, shape.width);
  };
  in_ = project(".proj_in");
  out_ = project(".proj_out");
  for (int64_t i = 0; i < shape.blocks; ++i)
    blocks_.emplace_back(from, fmt::format("{}.transformer_blocks.{}", name, i),
                         shape, config.cross_attention_dim);
}

torch::Tensor spatial_transformer::operator()(
  const torch::Tensor& x, const torch::Tensor& context) const {
  // Channels stand last in memory, so that pixels are tokens without a copy.
  const auto tokens = [](const torch::Tensor& of) {
    return of.permute({0, 2, 3, 1}).flatten(1, 2);
  };
  auto y = in_(tokens(norm_(x, after_norm::nothing)));
  for (const auto& block : blocks_)
    y = block(std::move(y), context);
  y = out_.plus(y, tokens(x));
  return y.unflatten(1, {x.size(2), x.size(3)}).permute({0, 3, 1, 2});
}

} // namespace atelier::gpu::detail
