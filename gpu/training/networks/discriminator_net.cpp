// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/training/networks/discriminator_net.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

using namespace detail;

namespace {

constexpr size_t readings = 2;

} // namespace

discriminator_net::discriminator_net(const discriminator_config& config,
                                     std::optional<at::Generator> generator)
  : text_(std::make_shared<text_encoder_net>(config.text, generator)) {
  constexpr double eps = 1e-5;
  const first_weights from{std::move(generator)};
  for (const auto& part : text_->named_children())
    register_module(part.key(), part.value());
  int64_t in = 3;
  auto side = config.side;
  for (size_t i = 0; i < config.channels.size(); ++i) {
    const auto width = config.channels[i];
    const auto name = [i](const char* which) {
      return fmt::format("levels.{}.{}", i, which);
    };
    level made;
    made.smaller =
      make_layer<conv_net>(*this, name("smaller"), in, width, 3, from, 2);
    made.norm1 = make_layer<group_norm_net>(*this, name("norm1"), config.groups,
                                            width, eps);
    made.conv =
      make_layer<conv_net>(*this, name("conv"), width, width, 3, from);
    made.norm2 = make_layer<group_norm_net>(*this, name("norm2"), config.groups,
                                            width, eps);
    levels_.push_back(std::move(made));
    in = width;
    side /= 2;
  }
  places_ =
    register_parameter("places", from.normal({1, in, side, side}, 0.02));
  for (size_t i = 0; i < readings; ++i) {
    const auto name = [i](const char* which) {
      return fmt::format("readings.{}.{}", i, which);
    };
    reading made;
    made.norm =
      make_layer<group_norm_net>(*this, name("norm"), config.groups, in, eps);
    made.by_text = make_layer<linear_net>(
      *this, name("by_text"), config.text.hidden_size, 2 * in, from);
    made.conv = make_layer<conv_net>(*this, name("conv"), in, in, 3, from);
    readings_.push_back(std::move(made));
  }
  out_ = make_layer<linear_net>(*this, "out", in, 1, from);
}

torch::Tensor discriminator_net::forward(const torch::Tensor& pixels,
                                         const torch::Tensor& ids) {
  auto x = pixels;
  for (const auto& each : levels_) {
    x = (*each.smaller)(x);
    x = x + (*each.conv)(at::silu((*each.norm1)(x)));
    x = at::silu((*each.norm2)(x));
  }
  x = x + places_;
  const auto said = text_->forward(ids).pooled;
  for (const auto& each : readings_) {
    const auto by =
      (*each.by_text)(said).unsqueeze(-1).unsqueeze(-1).chunk(2, 1);
    x = x + (*each.conv)(at::silu((*each.norm)(x) * (1 + by[0]) + by[1]));
  }
  return (*out_)(at::silu(x).mean({2, 3})).squeeze(1);
}

} // namespace atelier::gpu
