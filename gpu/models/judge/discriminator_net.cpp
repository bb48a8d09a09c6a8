// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/discriminator_net.hpp>

#include <cmath>

namespace atelier::gpu {

using namespace detail;

discriminator_net::discriminator_net(const discriminator_config& config,
                                     std::optional<at::Generator> generator)
  : config_(config),
    towers_(std::make_shared<scorer_net>(config.towers, generator)) {
  const first_weights from{std::move(generator)};
  register_module("towers", towers_);
  inner_ =
    make_layer<linear_net>(*this, "inner", evidence_size(), config.inner, from);
  out_ = make_layer<linear_net>(*this, "out", config.inner, 1, from);
}

int64_t discriminator_net::evidence_size() const {
  return 1 + 2 * config_.towers.text.projection_dim + config_.towers.width;
}

torch::Tensor discriminator_net::evidence(const torch::Tensor& pixels,
                                          const torch::Tensor& ids) {
  const auto features = towers_->features(pixels);
  const auto image = towers_->project(features);
  const auto said = towers_->embed_texts(ids);
  const auto products = image * said;
  // Elements of high-dimensional unit vectors are small.
  const auto width = static_cast<double>(said.size(1));
  return at::cat({products.sum(1, true) * std::sqrt(width), products * width,
                  features.to(torch::kFloat32), said * std::sqrt(width)},
                 1);
}

torch::Tensor discriminator_net::judge(const torch::Tensor& evidence) const {
  return (*out_)(at::gelu((*inner_)(evidence))).squeeze(1);
}

} // namespace atelier::gpu
