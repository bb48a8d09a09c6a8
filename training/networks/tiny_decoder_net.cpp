// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/networks/tiny_decoder_net.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

using namespace detail;

tiny_autoencoder_net::tiny_autoencoder_net(
  const autoencoder_config& config, std::optional<at::Generator> generator)
  : config_(config) {
  if (config.kind != autoencoder_kind::tiny
      || config.activation != autoencoder_activation::relu)
    throw model_error{{core::ec::bad_config,
                       "only an AutoencoderTiny with act_fn = \"relu\" can be "
                       "trained here"}};
  const first_weights from{std::move(generator)};
  const auto conv = [&](const char* side, size_t& at, int64_t in, int64_t out,
                        int64_t stride, with_bias biased) {
    return make_layer<conv_net>(*this, fmt::format("{}.layers.{}", side, at++),
                                in, out, 3, from, stride, biased);
  };

  size_t at = 0;
  auto width = config.encoder_channels;
  for (const auto blocks : config.num_encoder_blocks) {
    const auto first = at == 0;
    encoder_.push_back(
      {{conv("encoder", at, first ? 3 : width, width, first ? 1 : 2,
             first ? with_bias::yes : with_bias::no)}});
    add_blocks(encoder_, "encoder", at, blocks, width, from);
  }
  encoder_.push_back(
    {{conv("encoder", at, width, config.latent_channels, 1, with_bias::yes)}});

  at = 0;
  width = config.decoder_channels;
  decoder_.push_back(
    {{conv("decoder", at, config.latent_channels, width, 1, with_bias::yes)},
     false,
     true});
  // In diffusers' numbering the non-linearity is a layer of its own, and so is
  // the enlargement below.
  ++at;
  for (size_t i = 0; i < config.num_decoder_blocks.size(); ++i) {
    add_blocks(decoder_, "decoder", at, config.num_decoder_blocks[i], width,
               from);
    const auto last = i + 1 == config.num_decoder_blocks.size();
    at += last ? 0 : 1;
    decoder_.push_back({{conv("decoder", at, width, last ? 3 : width, 1,
                              last ? with_bias::yes : with_bias::no)},
                        !last});
  }
}

void tiny_autoencoder_net::add_blocks(std::vector<step>& to,
                                      const std::string& side, size_t& at,
                                      int64_t count, int64_t width,
                                      const first_weights& from) {
  for (int64_t i = 0; i < count; ++i, ++at) {
    step block;
    for (const auto place : {0, 2, 4})
      block.convs.push_back(make_layer<conv_net>(
        *this, fmt::format("{}.layers.{}.conv.{}", side, at, place), width,
        width, 3, from));
    to.push_back(std::move(block));
  }
}

torch::Tensor tiny_autoencoder_net::run(const std::vector<step>& steps,
                                        torch::Tensor x) {
  for (const auto& each : steps) {
    if (each.enlarges)
      x = at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
    if (each.convs.size() == 1) {
      x = (*each.convs[0])(x);
      x = each.relu_after ? at::relu(x) : x;
      continue;
    }
    auto y = at::relu((*each.convs[0])(x));
    y = at::relu((*each.convs[1])(y));
    x = at::relu((*each.convs[2])(y) + x);
  }
  return x;
}

torch::Tensor tiny_autoencoder_net::encode(const torch::Tensor& pixels) {
  return run(encoder_, (pixels + 1) * 0.5);
}

torch::Tensor tiny_autoencoder_net::decode(const torch::Tensor& latents) {
  return run(decoder_, at::tanh(latents / 3) * 3) * 2 - 1;
}

} // namespace atelier::gpu
