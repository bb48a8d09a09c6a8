// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/scorer_net.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace atelier::gpu {

using namespace detail;

namespace {

// Logarithm of the initial scale, as in CLIP.
constexpr double first_scale = 2.6592;
// CLIP keeps the scale below 100.
constexpr double most_scale = 100;

torch::Tensor unit(const torch::Tensor& x) {
  const auto y = x.to(torch::kFloat32);
  return y / y.norm(2, -1, true);
}

} // namespace

scorer_net::scorer_net(const scorer_config& config,
                       std::optional<at::Generator> generator)
  : config_(config),
    text_(std::make_shared<text_encoder_net>(config.text, generator)) {
  const first_weights from{std::move(generator)};
  // CLIPModel registers the parts of its text tower as its own.
  for (const auto& part : text_->named_children())
    register_module(part.key(), part.value());
  const auto width = config.width;
  const auto deviation = 1 / std::sqrt(static_cast<double>(width));
  const auto patches = config.side / config.patch;
  const std::string prefix = "vision_model.";
  patches_ = make_layer<conv_net>(
    *this, prefix + "embeddings.patch_embedding",
    from.normal({width, 3, config.patch, config.patch}, 0.02), config.patch);
  class_embedding_ =
    named_children()["vision_model"]
      ->named_children()["embeddings"]
      ->register_parameter("class_embedding", from.normal({width}, deviation));
  positions_ =
    make_layer<table_net>(*this, prefix + "embeddings.position_embedding",
                          patches * patches + 1, width, 0.02, from);
  first_norm_ =
    make_layer<layer_norm_net>(*this, prefix + "pre_layrnorm", width);
  for (int64_t i = 0; i < config.layers; ++i)
    layers_.push_back(make_layer<clip_layer_net>(
      *this, fmt::format("{}encoder.layers.{}", prefix, i),
      clip_layer_shape{.width = width,
                       .inner = config.inner,
                       .heads = config.heads,
                       .layers = config.layers},
      from));
  last_norm_ =
    make_layer<layer_norm_net>(*this, prefix + "post_layernorm", width);
  projection_ = make_layer<linear_net>(
    *this, "visual_projection",
    from.normal({config.text.projection_dim, width}, deviation),
    torch::Tensor{});
  logit_scale_ = register_parameter(
    "logit_scale", torch::scalar_tensor(first_scale, torch::kFloat32));
}

image_states scorer_net::look(const torch::Tensor& pixels) {
  TORCH_CHECK(pixels.size(2) == config_.side && pixels.size(3) == config_.side,
              "images are of ", pixels.size(3), "x", pixels.size(2),
              ", not of ", config_.side, "x", config_.side);
  const auto patches = (*patches_)(pixels).flatten(2).transpose(1, 2);
  const auto first = class_embedding_.to(patches.scalar_type())
                       .expand({pixels.size(0), 1, config_.width});
  auto x = (*first_norm_)(at::cat({first, patches}, 1) + positions_->weight);
  image_states out;
  for (const auto& layer : layers_) {
    out.patches = x.slice(1, 1);
    x = (*layer)(x);
  }
  out.pooled = (*last_norm_)(x.select(1, 0));
  return out;
}

torch::Tensor scorer_net::project(const torch::Tensor& pooled) {
  return unit((*projection_)(pooled));
}

torch::Tensor scorer_net::embed_images(const torch::Tensor& pixels) {
  return project(features(pixels));
}

torch::Tensor scorer_net::embed_texts(const torch::Tensor& ids) {
  return unit(text_->forward(ids).pooled);
}

torch::Tensor scorer_net::contrastive_loss(
  const torch::Tensor& images, const torch::Tensor& texts,
  const torch::Tensor& also_true) const {
  const auto n = images.size(0);
  const auto own =
    at::arange(n, at::TensorOptions(torch::kInt64).device(images.device()))
    * (texts.size(0) / n);
  auto scores = at::matmul(images, texts.t()) * scale().clamp_max(most_scale);
  if (also_true.defined())
    scores =
      scores.masked_fill(also_true, -std::numeric_limits<float>::infinity());
  const auto by_text = scores.index_select(1, own).t();
  return (at::cross_entropy_loss(scores, own)
          + at::cross_entropy_loss(by_text, at::arange(n, own.options())))
       / 2;
}

} // namespace atelier::gpu
