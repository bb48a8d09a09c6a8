// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/networks/autoencoder_net.hpp>
#include <atelier/training/networks/initialise.hpp>

#include <string_view>
#include <vector>

// Source: diffusers, models/autoencoders/vae.py, models/resnet.py,
// models/attention_processor.py. Each struct uses the parameter names of the
// class it corresponds to.

namespace atelier::gpu {

namespace nn = torch::nn;

namespace {

constexpr double eps = 1e-6;
constexpr double first_log_variance = -6;

// The range to which diffusers clamps log variances.
constexpr double least_log_variance = -30;
constexpr double most_log_variance = 20;

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t padding,
                int64_t stride = 1) {
  return nn::Conv2d{
    nn::Conv2dOptions(in, out, kernel).padding(padding).stride(stride)};
}

nn::GroupNorm norm(const autoencoder_config& config, int64_t channels) {
  return nn::GroupNorm{
    nn::GroupNormOptions(config.norm_num_groups, channels).eps(eps)};
}

struct resnet : nn::Module {
  resnet(const autoencoder_config& config, int64_t in, int64_t out)
    : norm1(register_module("norm1", norm(config, in))),
      conv1(register_module("conv1", conv(in, out, 3, 1))),
      norm2(register_module("norm2", norm(config, out))),
      conv2(register_module("conv2", conv(out, out, 3, 1))) {
    if (in != out)
      shortcut = register_module("conv_shortcut", conv(in, out, 1, 0));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = conv1(torch::silu(norm1(x)));
    y = conv2(torch::silu(norm2(y)));
    return y + (shortcut ? shortcut(x) : x);
  }

  nn::GroupNorm norm1;
  nn::Conv2d conv1;
  nn::GroupNorm norm2;
  nn::Conv2d conv2;
  nn::Conv2d shortcut{nullptr};
};

struct attention : nn::Module {
  attention(const autoencoder_config& config, int64_t channels)
    : group_norm(register_module("group_norm", norm(config, channels))),
      to_q(register_module("to_q", nn::Linear(channels, channels))),
      to_k(register_module("to_k", nn::Linear(channels, channels))),
      to_v(register_module("to_v", nn::Linear(channels, channels))) {
    to_out->push_back(nn::Linear(channels, channels));
    register_module("to_out", to_out);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto places = group_norm(x).flatten(2).transpose(1, 2).unsqueeze(1);
    auto y = torch::scaled_dot_product_attention(to_q(places), to_k(places),
                                                 to_v(places));
    y = to_out[0]->as<nn::Linear>()->forward(y).squeeze(1);
    return y.transpose(1, 2).reshape(x.sizes()) + x;
  }

  nn::GroupNorm group_norm;
  nn::Linear to_q;
  nn::Linear to_k;
  nn::Linear to_v;
  nn::ModuleList to_out;
};

struct middle : nn::Module {
  explicit middle(const autoencoder_config& config) {
    const auto channels = config.block_out_channels.back();
    register_module("resnets", resnets);
    for (int i = 0; i < 2; ++i)
      resnets->push_back(std::make_shared<resnet>(config, channels, channels));
    if (!config.mid_block_add_attention)
      return;
    register_module("attentions", attentions);
    attentions->push_back(std::make_shared<attention>(config, channels));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = resnets[0]->as<resnet>()->forward(x);
    if (!attentions->is_empty())
      x = attentions[0]->as<attention>()->forward(x);
    return resnets[1]->as<resnet>()->forward(x);
  }

  nn::ModuleList resnets;
  nn::ModuleList attentions;
};

// A change of resolution by one convolution, which is in a module of its own.
struct resampler : nn::Module {
  resampler(int64_t channels, int64_t padding, int64_t stride)
    : only(
      register_module("conv", conv(channels, channels, 3, padding, stride))) {}

  nn::Conv2d only;
};

// The layers of one resolution, in the encoder or the decoder.
struct level : nn::Module {
  level(const autoencoder_config& config, int64_t in, int64_t out,
        int64_t count) {
    register_module("resnets", resnets);
    for (int64_t i = 0; i < count; ++i)
      resnets->push_back(
        std::make_shared<resnet>(config, i == 0 ? in : out, out));
  }

  torch::Tensor forward(torch::Tensor x) {
    for (const auto& part : *resnets)
      x = part->as<resnet>()->forward(x);
    return x;
  }

  void add_downsampler(int64_t channels) {
    register_module("downsamplers", resamplers);
    resamplers->push_back(std::make_shared<resampler>(channels, 0, 2));
  }

  void add_upsampler(int64_t channels) {
    register_module("upsamplers", resamplers);
    resamplers->push_back(std::make_shared<resampler>(channels, 1, 1));
  }

  nn::ModuleList resnets;
  nn::ModuleList resamplers;
};

// Each channel becomes the mean of the 2x2 pixels under each step of a stride
// of two. The border of zeros is on the far sides.
void set_to_box(torch::Tensor& weight) {
  const auto n = weight.size(0);
  weight.zero_();
  weight.narrow(2, 0, 2).narrow(3, 0, 2).copy_(torch::eye(n).view({n, n, 1, 1})
                                               / 4);
}

// Each channel stays unchanged.
void set_to_centre(torch::Tensor& weight) {
  weight.zero_();
  weight.select(3, 1).select(2, 1).copy_(torch::eye(weight.size(0)));
}

} // namespace

struct autoencoder_net::encoder_part : nn::Module {
  explicit encoder_part(const autoencoder_config& config) {
    const auto& widths = config.block_out_channels;
    conv_in = register_module("conv_in", conv(3, widths.front(), 3, 1));
    register_module("down_blocks", levels);
    auto channels = widths.front();
    for (size_t i = 0; i < widths.size(); ++i) {
      const auto part = std::make_shared<level>(config, channels, widths[i],
                                                config.layers_per_block);
      channels = widths[i];
      if (i + 1 < widths.size())
        part->add_downsampler(channels);
      levels->push_back(part);
    }
    mid = register_module("mid_block", std::make_shared<middle>(config));
    norm_out = register_module("conv_norm_out", norm(config, channels));
    conv_out = register_module(
      "conv_out", conv(channels, 2 * config.latent_channels, 3, 1));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = conv_in(x);
    for (const auto& item : *levels) {
      auto& part = *item->as<level>();
      x = part.forward(x);
      // The border of zeros is on the far sides only.
      if (!part.resamplers->is_empty())
        x = part.resamplers[0]->as<resampler>()->only(
          torch::constant_pad_nd(x, {0, 1, 0, 1}));
    }
    return conv_out(torch::silu(norm_out(mid->forward(x))));
  }

  nn::Conv2d conv_in{nullptr};
  nn::ModuleList levels;
  std::shared_ptr<middle> mid;
  nn::GroupNorm norm_out{nullptr};
  nn::Conv2d conv_out{nullptr};
};

struct autoencoder_net::decoder_part : nn::Module {
  explicit decoder_part(const autoencoder_config& config) {
    const std::vector<int64_t> widths{config.block_out_channels.rbegin(),
                                      config.block_out_channels.rend()};
    conv_in = register_module(
      "conv_in", conv(config.latent_channels, widths.front(), 3, 1));
    mid = register_module("mid_block", std::make_shared<middle>(config));
    register_module("up_blocks", levels);
    auto channels = widths.front();
    for (size_t i = 0; i < widths.size(); ++i) {
      const auto part = std::make_shared<level>(config, channels, widths[i],
                                                config.layers_per_block + 1);
      channels = widths[i];
      if (i + 1 < widths.size())
        part->add_upsampler(channels);
      levels->push_back(part);
    }
    norm_out = register_module("conv_norm_out", norm(config, channels));
    conv_out = register_module("conv_out", conv(channels, 3, 3, 1));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = mid->forward(conv_in(x));
    for (const auto& item : *levels) {
      auto& part = *item->as<level>();
      x = part.forward(x);
      if (!part.resamplers->is_empty())
        x = part.resamplers[0]->as<resampler>()->only(
          torch::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)}));
    }
    return conv_out(torch::silu(norm_out(x)));
  }

  nn::Conv2d conv_in{nullptr};
  std::shared_ptr<middle> mid;
  nn::ModuleList levels;
  nn::GroupNorm norm_out{nullptr};
  nn::Conv2d conv_out{nullptr};
};

autoencoder_net::autoencoder_net(const autoencoder_config& config)
  : encoder_(
    register_module("encoder", std::make_shared<encoder_part>(config))),
    decoder_(
      register_module("decoder", std::make_shared<decoder_part>(config))) {
  const auto n = config.latent_channels;
  quant_ = register_module("quant_conv", conv(2 * n, 2 * n, 1, 0));
  post_quant_ = register_module("post_quant_conv", conv(n, n, 1, 0));
}

void autoencoder_net::draw(uint64_t seed) {
  draw_parameters(*this, seed);
  const torch::NoGradGuard guard;
  const auto n = post_quant_->weight.size(0);
  const auto set_to_identity = [](torch::Tensor& x) {
    x.copy_(torch::eye(x.size(0)).view_as(x));
  };
  set_to_identity(quant_->weight);
  set_to_identity(post_quant_->weight);
  for (auto& item : named_parameters()) {
    const std::string_view name{item.key()};
    if (name.ends_with("conv2.weight"))
      item.value().zero_();
    else if (name.ends_with("downsamplers.0.conv.weight"))
      set_to_box(item.value());
    else if (name.ends_with("upsamplers.0.conv.weight"))
      set_to_centre(item.value());
  }
  // At first, the variance does not depend on the image.
  quant_->weight.narrow(0, n, n).zero_();
  quant_->bias.narrow(0, n, n).fill_(first_log_variance);
}

encoded_image autoencoder_net::encode(const torch::Tensor& pixels) {
  const auto halves =
    quant_(encoder_->forward(pixels)).to(torch::kFloat32).chunk(2, 1);
  return {halves[0], halves[1].clamp(least_log_variance, most_log_variance)};
}

torch::Tensor autoencoder_net::decode(const torch::Tensor& latent) {
  return decoder_->forward(post_quant_(latent)).to(torch::kFloat32);
}

void autoencoder_net::fold(const torch::Tensor& mean,
                           const torch::Tensor& deviation) {
  const torch::NoGradGuard guard;
  const auto n = mean.size(0);
  quant_->weight.narrow(0, 0, n).div_(deviation.view({n, 1, 1, 1}));
  quant_->bias.narrow(0, 0, n).sub_(mean).div_(deviation);
  quant_->bias.narrow(0, n, n).sub_(deviation.log(), 2);
  // The weights are scaled by input channel, that is, from the right.
  post_quant_->bias.add_(post_quant_->weight.view({n, n}).mv(mean));
  post_quant_->weight.mul_(deviation.view({1, n, 1, 1}));
}

} // namespace atelier::gpu
