// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/unet/detail/unet_transformer.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::gpu::detail {

transformer_block::transformer_block(weights& from, const std::string& name,
                                     const transformer_shape& shape,
                                     int64_t context_width)
  : norm1_(from, name + ".norm1", shape.width),
    norm2_(from, name + ".norm2", shape.width),
    cross2_(from, name + ".attn2", shape.width, shape.heads, context_width),
    norm3_(from, name + ".norm3", shape.width),
    gated_(from, name + ".ff.net.0.proj", shape.width, shape.width * 4),
    out_(from, name + ".ff.net.2", shape.width * 4, shape.width) {
  if (shape.only_cross_attention)
    cross1_.emplace(from, name + ".attn1", shape.width, shape.heads,
                    context_width);
  else
    self_.emplace(from, name + ".attn1", shape.width, shape.heads);
}

void transformer_block::add_to(const torch::Tensor& x, const pass& of) const {
  const auto attend_to_text = [&](const cross_attention& by,
                                  const layer_norm& norm) {
    by.add_to(x, norm(x), kept_or_made(of.kept, &by, [&] {
                return by.keys_values(of.context);
              }));
  };
  if (self_)
    self_->add_to(x, norm1_(x));
  else
    attend_to_text(*cross1_, norm1_);
  attend_to_text(cross2_, norm2_);
  add_feed_forward(x);
}

void transformer_block::add_feed_forward(const torch::Tensor& x) const {
  // Some tokens are processed at a time, as the intermediate result is four
  // times as wide.
  constexpr int64_t most_tokens = 4096;
  const auto tokens = x.view({-1, x.size(2)});
  for (int64_t first = 0; first < tokens.size(0); first += most_tokens) {
    const auto part =
      tokens.narrow(0, first, std::min(most_tokens, tokens.size(0) - first));
    out_.add_to(part, gated_(norm3_(part)));
  }
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

torch::Tensor spatial_transformer::operator()(const torch::Tensor& x,
                                              const pass& of) const {
  // The memory layout is channels-last, so that pixels are tokens without a
  // copy.
  const auto tokens = [](const torch::Tensor& map) {
    return map.permute({0, 2, 3, 1}).flatten(1, 2);
  };
  const auto y = in_(tokens(norm_(x, after_norm::nothing)));
  for (const auto& block : blocks_)
    block.add_to(y, of);
  return out_.add_to(tokens(x), y)
    .unflatten(1, {x.size(2), x.size(3)})
    .permute({0, 3, 1, 2});
}

} // namespace atelier::gpu::detail
