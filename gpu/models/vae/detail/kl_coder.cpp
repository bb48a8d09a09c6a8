// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/detail/kl_coder.hpp>

namespace atelier::gpu::detail {

namespace {

// Used before the last convolution, whatever act_fn says.
constexpr auto last_activation = autoencoder_activation::silu;

conv_layer take_conv(weights& from, const std::string& name, int64_t out,
                     int64_t in, int64_t kernel = 3) {
  return conv_layer::take(from, name, out, in, kernel);
}

} // namespace

kl_encoder::kl_encoder(weights& from, const autoencoder_config& config)
  : conv_in_(
    take_conv(from, "encoder.conv_in", config.block_out_channels.front(), 3)),
    middle_(from, "encoder.mid_block", config),
    norm_out_(from, "encoder.conv_norm_out", config.block_out_channels.back(),
              config, last_activation),
    conv_out_(take_conv(from, "encoder.conv_out", 2 * config.latent_channels,
                        config.block_out_channels.back())) {
  auto channels = config.block_out_channels.front();
  for (size_t i = 0; i < config.block_out_channels.size(); ++i) {
    const auto name = fmt::format("encoder.down_blocks.{}", i);
    const auto out = config.block_out_channels[i];
    auto& here = levels_.emplace_back();
    for (int64_t k = 0; k < config.layers_per_block; ++k) {
      here.resnets.emplace_back(from, fmt::format("{}.resnets.{}", name, k),
                                channels, out, config);
      channels = out;
    }
    if (i + 1 < config.block_out_channels.size())
      here.downsample =
        take_conv(from, name + ".downsamplers.0.conv", out, out);
  }
  if (config.use_quant_conv)
    quant_ = take_conv(from, "quant_conv", 2 * config.latent_channels,
                       2 * config.latent_channels, 1);
}

torch::Tensor kl_encoder::operator()(const torch::Tensor& pixels) const {
  auto x = conv_in_(pixels, {1, 1});
  for (const auto& here : levels_) {
    for (const auto& resnet : here.resnets)
      x = resnet(std::move(x));
    // Only the far sides have a border of zeros.
    if (here.downsample)
      x = (*here.downsample)(at::constant_pad_nd(x, {0, 1, 0, 1}), {0, 0}, 2);
  }
  x = middle_(std::move(x));
  x = norm_out_.then(conv_out_, x);
  return quant_ ? (*quant_)(x, {0, 0}) : x;
}

uint64_t kl_encoder::bytes() const {
  auto sum = conv_in_.bytes() + middle_.bytes() + norm_out_.bytes()
           + conv_out_.bytes() + (quant_ ? quant_->bytes() : 0);
  for (const auto& here : levels_) {
    for (const auto& resnet : here.resnets)
      sum += resnet.bytes();
    sum += here.downsample ? here.downsample->bytes() : 0;
  }
  return sum;
}

kl_decoder::kl_decoder(weights& from, const autoencoder_config& config)
  : conv_in_(take_conv(from, "decoder.conv_in",
                       config.block_out_channels.back(),
                       config.latent_channels)),
    middle_(from, "decoder.mid_block", config),
    norm_out_(from, "decoder.conv_norm_out", config.block_out_channels.front(),
              config, last_activation),
    conv_out_(take_conv(from, "decoder.conv_out", 3,
                        config.block_out_channels.front())) {
  if (config.use_post_quant_conv)
    post_quant_ = take_conv(from, "post_quant_conv", config.latent_channels,
                            config.latent_channels, 1);
  auto channels = config.block_out_channels.back();
  const auto count = config.block_out_channels.size();
  for (size_t i = 0; i < count; ++i) {
    const auto name = fmt::format("decoder.up_blocks.{}", i);
    const auto out = config.block_out_channels[count - 1 - i];
    auto& here = levels_.emplace_back();
    for (int64_t k = 0; k <= config.layers_per_block; ++k) {
      here.resnets.emplace_back(from, fmt::format("{}.resnets.{}", name, k),
                                channels, out, config);
      channels = out;
    }
    if (i + 1 < count)
      here.upsample =
        upsample_conv::take(from, name + ".upsamplers.0.conv", out);
  }
}

void kl_decoder::prepare() const {
  conv_in_.prepare();
  middle_.prepare();
  for (const auto& here : levels_) {
    for (const auto& resnet : here.resnets)
      resnet.prepare();
    if (here.upsample)
      here.upsample->prepare();
  }
  conv_out_.prepare();
}

size_t kl_decoder::parts() const {
  // The input, the middle and the output.
  size_t sum = 3;
  for (const auto& here : levels_)
    sum += here.resnets.size() + (here.upsample ? 1 : 0);
  return sum;
}

torch::Tensor kl_decoder::part(size_t index, torch::Tensor x) const {
  if (index == 0)
    return conv_in_(post_quant_ ? (*post_quant_)(x, {0, 0}) : x, {1, 1});
  if (index == 1)
    return middle_(std::move(x));
  index -= 2;
  for (const auto& here : levels_) {
    if (index < here.resnets.size())
      return here.resnets[index](std::move(x));
    index -= here.resnets.size();
    if (here.upsample && index-- == 0)
      return (*here.upsample)(x);
  }
  return norm_out_.then(conv_out_, x);
}

uint64_t kl_decoder::bytes() const {
  auto sum = conv_in_.bytes() + middle_.bytes() + norm_out_.bytes()
           + conv_out_.bytes() + (post_quant_ ? post_quant_->bytes() : 0);
  for (const auto& here : levels_) {
    for (const auto& resnet : here.resnets)
      sum += resnet.bytes();
    sum += here.upsample ? here.upsample->bytes() : 0;
  }
  return sum;
}

} // namespace atelier::gpu::detail
