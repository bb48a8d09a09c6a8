// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/unet/detail/unet_levels.hpp>

#include <fmt/format.h>

namespace atelier::gpu::detail {

namespace {

unet_layer build_layer(weights& from, const std::string& name, size_t i,
                       const unet_level& shape, const std::vector<int64_t>& in,
                       const unet_config& config) {
  unet_layer out{
    {from, fmt::format("{}.resnets.{}", name, i), in, shape.channels, config},
    {}};
  if (shape.layers[i])
    out.transformer.emplace(from, fmt::format("{}.attentions.{}", name, i),
                            transformer_shape{shape.channels, shape.heads,
                                              *shape.layers[i],
                                              shape.only_cross_attention},
                            config);
  return out;
}

} // namespace

torch::Tensor unet_layer::operator()(const torch::Tensor& x,
                                     const torch::Tensor& skip,
                                     const pass& of) const {
  auto y = resnet(x, skip, of.embedding);
  return transformer ? (*transformer)(y, of) : y;
}

down_level::down_level(weights& from, const std::string& name,
                       const unet_level& shape, int64_t in, bool last,
                       const unet_config& config)
  : pad_end_(config.downsample_padding == 0) {
  for (size_t i = 0; i < shape.layers.size(); ++i)
    layers_.push_back(build_layer(from, name, i, shape,
                                  {i == 0 ? in : shape.channels}, config));
  if (!last)
    smaller_.emplace(from, name + ".downsamplers.0.conv",
                     conv_shape{.in = shape.channels,
                                .out = shape.channels,
                                .stride = 2,
                                .padding = config.downsample_padding});
}

torch::Tensor down_level::operator()(torch::Tensor x,
                                     std::vector<torch::Tensor>& skips,
                                     const pass& of) const {
  for (const auto& layer : layers_) {
    x = layer(x, {}, of);
    skips.push_back(x);
  }
  if (smaller_) {
    x = pad_end_ ? smaller_->padded_after(x) : (*smaller_)(x);
    skips.push_back(x);
  }
  return x;
}

middle_level::middle_level(weights& from, const unet_config& config)
  : first_{{from,
            "mid_block.resnets.0",
            {config.down.back().channels},
            config.down.back().channels,
            config,
            config.middle_scale},
           {}} {
  if (config.middle != unet_middle::cross_attention)
    return;
  const auto width = config.down.back().channels;
  first_.transformer.emplace(from, "mid_block.attentions.0",
                             transformer_shape{width, config.middle_heads,
                                               config.middle_transformer_blocks,
                                               false},
                             config);
  second_.emplace(from, "mid_block.resnets.1", std::vector<int64_t>{width},
                  width, config, config.middle_scale);
}

torch::Tensor middle_level::operator()(const torch::Tensor& x,
                                       const pass& of) const {
  auto y = first_(x, {}, of);
  return second_ ? (*second_)(y, {}, of.embedding) : y;
}

up_level::up_level(weights& from, const std::string& name,
                   const unet_level& shape, int64_t in, int64_t beside,
                   bool last, const unet_config& config) {
  const auto count = shape.layers.size();
  for (size_t i = 0; i < count; ++i) {
    const auto skip = i + 1 == count ? beside : shape.channels;
    layers_.push_back(build_layer(
      from, name, i, shape, {i == 0 ? in : shape.channels, skip}, config));
  }
  if (!last)
    larger_.emplace(from, name + ".upsamplers.0.conv",
                    conv_shape{.in = shape.channels, .out = shape.channels});
}

torch::Tensor up_level::operator()(torch::Tensor x,
                                   std::vector<torch::Tensor>& skips,
                                   const pass& of) const {
  for (const auto& layer : layers_) {
    const auto skip = std::move(skips.back());
    skips.pop_back();
    x = layer(x, skip, of);
  }
  if (larger_) {
    // Twice the size, except for sides that were odd on the downward path.
    const auto size = skips.back().sizes().slice(2);
    x = larger_->enlarged(x, size[0], size[1]);
  }
  return x;
}

} // namespace atelier::gpu::detail
