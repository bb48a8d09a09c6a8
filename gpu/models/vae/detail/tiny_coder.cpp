// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/detail/tiny_coder.hpp>
#include <atelier/gpu/models/vae/detail/vae_blocks.hpp>

namespace atelier::gpu::detail {

namespace {

template <class... Functions>
struct overload : Functions... {
  using Functions::operator()...;
};

// clang 14 does not deduce these for aggregates.
template <class... Functions>
overload(Functions...) -> overload<Functions...>;

} // namespace

void tiny_coder::add_residuals(weights& from, const std::string& name,
                               int64_t count, int64_t channels) {
  for (int64_t i = 0; i < count; ++i) {
    const auto conv = [&](int at) {
      return conv_layer::take(
        from, fmt::format("{}.layers.{}.conv.{}", name, layers_.size(), at),
        channels, channels, 3);
    };
    layers_.emplace_back(residual{{conv(0), conv(2), conv(4)}});
  }
}

tiny_coder tiny_coder::encoder(weights& from,
                               const autoencoder_config& config) {
  tiny_coder x{config.activation};
  const auto channels = config.encoder_channels;
  const auto conv = [&](int64_t out, int64_t in, int64_t stride,
                        conv_bias bias) {
    x.layers_.emplace_back(plain{
      conv_layer::take(from, fmt::format("encoder.layers.{}", x.layers_.size()),
                       out, in, 3, bias),
      stride});
  };
  for (const auto blocks : config.num_encoder_blocks) {
    if (x.layers_.empty())
      conv(channels, 3, 1, conv_bias::present);
    else
      conv(channels, channels, 2, conv_bias::none);
    x.add_residuals(from, "encoder", blocks, channels);
  }
  conv(config.latent_channels, channels, 1, conv_bias::present);
  return x;
}

tiny_coder tiny_coder::decoder(weights& from,
                               const autoencoder_config& config) {
  tiny_coder x{config.activation};
  const auto channels = config.decoder_channels;
  const auto conv = [&](int64_t out, int64_t in, conv_bias bias) {
    x.layers_.emplace_back(plain{
      conv_layer::take(from, fmt::format("decoder.layers.{}", x.layers_.size()),
                       out, in, 3, bias),
      1});
  };
  conv(channels, config.latent_channels, conv_bias::present);
  x.layers_.emplace_back(activation{});
  const auto count = config.num_decoder_blocks.size();
  for (size_t i = 0; i < count; ++i) {
    x.add_residuals(from, "decoder", config.num_decoder_blocks[i], channels);
    if (i + 1 < count) {
      x.layers_.emplace_back(upsampling{});
      conv(channels, channels, conv_bias::none);
    } else {
      conv(3, channels, conv_bias::present);
    }
  }
  return x;
}

torch::Tensor tiny_coder::operator()(torch::Tensor x) const {
  const auto residual_of = [&](const residual& with) {
    auto y = activate(with.conv[0](x, {1, 1}), activation_);
    y = activate(with.conv[1](y, {1, 1}), activation_);
    return at::relu_(with.conv[2](y, {1, 1}).add_(x));
  };
  for (const auto& each : layers_)
    x = std::visit(
      overload{
        [&](const plain& with) {
          return with.conv(x, {1, 1}, with.stride);
        },
        residual_of,
        [&](const activation&) { return activate(x, activation_); },
        [&](const upsampling&) {
          return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
        }},
      each);
  return x;
}

uint64_t tiny_coder::bytes() const {
  uint64_t sum = 0;
  for (const auto& each : layers_)
    std::visit(overload{[&](const plain& x) { sum += x.conv.bytes(); },
                        [&](const residual& x) {
                          for (const auto& conv : x.conv)
                            sum += conv.bytes();
                        },
                        [](const auto&) {}},
               each);
  return sum;
}

} // namespace atelier::gpu::detail
