// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/training/networks/discriminator_net.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

using namespace detail;

discriminator_net::discriminator_net(const discriminator_config& config,
                                     std::optional<at::Generator> generator) {
  constexpr double eps = 1e-5;
  const first_weights from{std::move(generator)};
  int64_t in = 3;
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
  }
  out_ = make_layer<linear_net>(*this, "out", in, 1, from);
}

torch::Tensor discriminator_net::forward(const torch::Tensor& pixels) {
  auto x = pixels;
  for (const auto& each : levels_) {
    x = (*each.smaller)(x);
    x = x + (*each.conv)(at::silu((*each.norm1)(x)));
    x = at::silu((*each.norm2)(x));
  }
  return (*out_)(x.mean({2, 3})).squeeze(1);
}

} // namespace atelier::gpu
