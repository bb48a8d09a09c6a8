// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/networks/unet_net.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

using namespace detail;

namespace {

void refuse(bool given, const char* what) {
  if (given)
    throw model_error{
      {core::ec::bad_config, fmt::format("{} cannot be trained here", what)}};
}

void check(const unet_config& x) {
  refuse(x.addition == unet_addition::text_time,
         "addition_embed_type = \"text_time\"");
  refuse(x.time_cond_proj_dim.has_value(), "time_cond_proj_dim");
  refuse(x.encoder_hid_dim.has_value(), "encoder_hid_dim");
  refuse(x.center_input_sample, "center_input_sample = true");
  refuse(x.conv_in_kernel != 3 || x.conv_out_kernel != 3,
         "a kernel of another side than 3");
  refuse(x.middle_scale != 1, "mid_block_scale_factor other than 1");
  refuse(x.downsample_padding != 1, "downsample_padding other than 1");
  for (const auto& levels : {x.down, x.up})
    for (const auto& level : levels)
      refuse(level.only_cross_attention, "only_cross_attention = true");
}

} // namespace

unet_net::unet_net(const unet_config& config,
                   std::optional<at::Generator> generator)
  : config_(config) {
  check(config);
  const first_weights from{std::move(generator)};
  const auto first = config.down.front().channels;
  const auto time = config.time_embedding_dim;
  in_ =
    make_layer<conv_net>(*this, "conv_in", config.in_channels, first, 3, from);
  time1_ =
    make_layer<linear_net>(*this, "time_embedding.linear_1", first, time, from);
  time2_ =
    make_layer<linear_net>(*this, "time_embedding.linear_2", time, time, from);
  if (config.addition == unet_addition::text)
    pooling_ = make_layer<pooling_net>(*this, "add_embedding",
                                       config.cross_attention_dim, time,
                                       config.addition_heads, from);
  add_down(from);
  add_middle(from);
  add_up(from);
  norm_ = make_layer<group_norm_net>(*this, "conv_norm_out", config.norm_groups,
                                     first, config.norm_eps);
  out_ = make_layer<conv_net>(*this, "conv_out", first, config.out_channels, 3,
                              from);
}

unet_net::layer unet_net::add_layer(const std::string& name, size_t i,
                                    const unet_level& shape, int64_t in,
                                    const first_weights& from) {
  layer out;
  out.resnet =
    make_layer<resnet_net>(*this, fmt::format("{}.resnets.{}", name, i), in,
                           shape.channels, config_, from);
  if (shape.layers[i])
    out.transformer = make_layer<transformer_net>(
      *this, fmt::format("{}.attentions.{}", name, i), config_, shape.channels,
      shape.heads, *shape.layers[i], from);
  return out;
}

void unet_net::add_down(const first_weights& from) {
  auto in = config_.down.front().channels;
  for (size_t i = 0; i < config_.down.size(); ++i) {
    const auto& shape = config_.down[i];
    const auto name = fmt::format("down_blocks.{}", i);
    level made;
    for (size_t j = 0; j < shape.layers.size(); ++j) {
      made.layers.push_back(add_layer(name, j, shape, in, from));
      in = shape.channels;
    }
    if (i + 1 < config_.down.size())
      made.resize = make_layer<conv_net>(*this, name + ".downsamplers.0.conv",
                                         in, in, 3, from, 2);
    down_.push_back(std::move(made));
  }
}

void unet_net::add_middle(const first_weights& from) {
  if (config_.middle == unet_middle::none)
    return;
  unet_level shape;
  shape.channels = config_.down.back().channels;
  shape.heads = config_.middle_heads;
  shape.layers.resize(2);
  const auto attends = config_.middle == unet_middle::cross_attention;
  if (attends)
    shape.layers[0] = config_.middle_transformer_blocks;
  for (size_t i = 0; i < (attends ? 2u : 1u); ++i)
    middle_.push_back(add_layer("mid_block", i, shape, shape.channels, from));
}

void unet_net::add_up(const first_weights& from) {
  const auto count = config_.up.size();
  auto in = config_.up.front().channels;
  for (size_t i = 0; i < count; ++i) {
    const auto& shape = config_.up[i];
    const auto last = i + 1 == count;
    const auto name = fmt::format("up_blocks.{}", i);
    level made;
    for (size_t j = 0; j < shape.layers.size(); ++j) {
      // The skip connection from the down blocks is concatenated to the input.
      const auto beside = j + 1 < shape.layers.size()
                          ? shape.channels
                          : config_.up[last ? i : i + 1].channels;
      made.layers.push_back(add_layer(name, j, shape, in + beside, from));
      in = shape.channels;
    }
    if (!last)
      made.resize = make_layer<conv_net>(*this, name + ".upsamplers.0.conv", in,
                                         in, 3, from);
    up_.push_back(std::move(made));
  }
}

torch::Tensor unet_net::run(const layer& with, const torch::Tensor& x,
                            const torch::Tensor& time,
                            const torch::Tensor& context) {
  const auto y = (*with.resnet)(x, time);
  return with.transformer ? (*with.transformer)(y, context) : y;
}

torch::Tensor unet_net::forward(const torch::Tensor& latents,
                                const torch::Tensor& timesteps,
                                const torch::Tensor& context) {
  const auto numbers =
    embed_timesteps(timesteps, config_.down.front().channels,
                    config_.flip_sin_to_cos, config_.freq_shift)
      .to(time1_->weight.scalar_type());
  auto time = (*time2_)(at::silu((*time1_)(numbers)));
  if (pooling_)
    time = time + (*pooling_)(context);
  // Every residual block begins with this non-linearity.
  time = at::silu(time);

  auto x = (*in_)(latents);
  std::vector<torch::Tensor> skips{x};
  for (const auto& resolution : down_) {
    for (const auto& with : resolution.layers) {
      x = run(with, x, time, context);
      skips.push_back(x);
    }
    if (resolution.resize) {
      x = (*resolution.resize)(x);
      skips.push_back(x);
    }
  }
  for (const auto& with : middle_)
    x = run(with, x, time, context);
  for (const auto& resolution : up_) {
    for (const auto& with : resolution.layers) {
      x = run(with, at::cat({x, skips.back()}, 1), time, context);
      skips.pop_back();
    }
    if (resolution.resize)
      // This doubles the size, except for sides that were odd in the down
      // blocks.
      x = (*resolution.resize)(
        at::upsample_nearest2d(x, skips.back().sizes().slice(2)));
  }
  return (*out_)(at::silu((*norm_)(x)));
}

} // namespace atelier::gpu
