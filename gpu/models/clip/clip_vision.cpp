// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_vision.hpp>
#include <atelier/gpu/models/clip/detail/tower_layers.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

struct clip_vision::impl {
  clip_vision_config config;
  /// [hidden_size, 3, patch_size, patch_size].
  torch::Tensor patches;
  /// [hidden_size]: the token that stands for the whole image.
  torch::Tensor class_embedding;
  /// [patches + 1, hidden_size].
  torch::Tensor positions;
  detail::tower_norm first_norm;
  std::vector<detail::tower_layer> layers;
  detail::tower_norm last_norm;
  torch::Tensor projection;

  impl(weights& from, const clip_vision_config& how) : config(how) {
    const std::string prefix = "vision_model.";
    const auto width = config.hidden_size;
    const detail::tower_shape shape{width, config.intermediate_size,
                                    config.heads, config.activation,
                                    config.layer_norm_eps};
    from.skip(prefix + "embeddings.position_ids");
    patches = from.take(prefix + "embeddings.patch_embedding.weight",
                        {width, 3, config.patch_size, config.patch_size});
    class_embedding = from.take(prefix + "embeddings.class_embedding", {width});
    positions = from.take(prefix + "embeddings.position_embedding.weight",
                          {config.patches() + 1, width});
    // The misspelling is that of the published files.
    first_norm = detail::tower_norm::take(from, prefix + "pre_layrnorm", shape);
    for (int64_t i = 0; i < config.layers; ++i)
      layers.push_back(detail::tower_layer::take(
        from, fmt::format("{}encoder.layers.{}", prefix, i), shape));
    last_norm =
      detail::tower_norm::take(from, prefix + "post_layernorm", shape);
    projection =
      from.take("visual_projection.weight", {config.projection_dim, width});
    from.expect_all_taken();
  }

  torch::Tensor forward(const torch::Tensor& pixels) const {
    TORCH_CHECK(pixels.dim() == 4 && pixels.size(1) == 3
                  && pixels.size(2) == config.image_size
                  && pixels.size(3) == config.image_size,
                "images have the shape ", pixels.sizes(), ", not [n, 3, ",
                config.image_size, ", ", config.image_size, "]");
    const auto parts = at::conv2d(pixels, patches, {}, config.patch_size)
                         .flatten(2)
                         .transpose(1, 2);
    const auto first =
      class_embedding.expand({pixels.size(0), 1, config.hidden_size});
    auto x = first_norm(at::cat({first, parts}, 1) + positions);
    for (const auto& layer : layers)
      x = layer(x, false);
    return at::linear(last_norm(x.select(1, 0)), projection);
  }
};

core::result<std::unique_ptr<clip_vision>> clip_vision::load(
  const component& from, const placement& where) {
  auto config = read_clip_vision_config(from);
  if (!config)
    return config.why();
  return with_model_border(from.config_file, [&] {
    const c10::InferenceMode guard;
    weights tensors{from.weights, where};
    auto network = std::make_unique<impl>(tensors, *config);
    return std::unique_ptr<clip_vision>{new clip_vision{std::move(network)}};
  });
}

clip_vision::clip_vision(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

clip_vision::~clip_vision() = default;

torch::Tensor clip_vision::forward(const torch::Tensor& pixels) const {
  const c10::InferenceMode guard;
  return impl_->forward(pixels);
}

const clip_vision_config& clip_vision::config() const {
  return impl_->config;
}

} // namespace atelier::gpu
