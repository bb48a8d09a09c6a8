// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text.hpp>
#include <atelier/gpu/models/clip/detail/tower_layers.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <algorithm>

namespace atelier::gpu {

struct clip_text::impl {
  clip_text_config config;
  torch::Tensor token_embedding;
  torch::Tensor position_embedding;
  std::vector<detail::tower_layer> layers;
  detail::tower_norm final_norm;
  // Undefined without a projection.
  torch::Tensor projection;
  uint64_t weight_bytes = 0;

  impl(weights& from, const clip_text_config& how) : config(how) {
    // Files written by transformers 5 omit the prefix for a model without
    // projection.
    const std::string probe = "text_model.embeddings.token_embedding.weight";
    const std::string prefix = from.has(probe) ? "text_model." : "";
    const auto width = config.hidden_size;
    from.skip(prefix + "embeddings.position_ids");
    token_embedding = from.take(prefix + "embeddings.token_embedding.weight",
                                {config.vocab_size, width});
    position_embedding =
      from.take(prefix + "embeddings.position_embedding.weight",
                {config.max_position_embeddings, width});
    const detail::tower_shape shape{width, config.intermediate_size,
                                    config.heads, config.activation,
                                    config.layer_norm_eps};
    for (int64_t i = 0; i < config.layers; ++i)
      layers.push_back(detail::tower_layer::take(
        from, fmt::format("{}encoder.layers.{}", prefix, i), shape));
    final_norm =
      detail::tower_norm::take(from, prefix + "final_layer_norm", shape);
    if (config.projection_dim != 0)
      projection =
        from.take("text_projection.weight", {config.projection_dim, width});
    else
      // Remains if a model with a projection was reduced to one without.
      from.skip("text_projection.weight");
    from.expect_all_taken();
    weight_bytes = count_bytes();
  }

  uint64_t count_bytes() const {
    auto sum = token_embedding.nbytes() + position_embedding.nbytes()
             + final_norm.bytes()
             + (projection.defined() ? projection.nbytes() : 0);
    for (const auto& x : layers)
      sum += x.bytes();
    return sum;
  }

  // Returns the position of each row's pooled state.
  torch::Tensor pool_at(const torch::Tensor& ids) const {
    if (config.pooling == clip_pooling::largest_id)
      return ids.argmax(-1);
    return ids.eq(config.eos_token_id).to(torch::kInt32).argmax(-1);
  }

  clip_text_output forward(const torch::Tensor& ids, size_t clip_skip) const {
    if (clip_skip < 1 || (clip_skip > 1 && clip_skip > layers.size()))
      throw model_error{core::fail(
        core::ec::invalid_argument,
        "clip_skip {} outside 1..{}, the layers of the model's text encoder",
        clip_skip, layers.size())};
    TORCH_CHECK(ids.dim() == 2, "token ids are of ", ids.dim(),
                " dimensions, not 2");
    TORCH_CHECK(ids.size(1) >= 1
                  && ids.size(1) <= config.max_position_embeddings,
                "a prompt has ", ids.size(1), " tokens, not 1 to ",
                config.max_position_embeddings);
    const auto at = ids.to(token_embedding.device(), torch::kInt64);
    auto x = at::embedding(token_embedding, at)
               .add_(position_embedding.narrow(0, 0, ids.size(1)));
    clip_text_output out;
    const auto penultimate = layers.size() + 1 - std::max<size_t>(clip_skip, 2);
    for (size_t i = 0; i < layers.size(); ++i) {
      if (i == penultimate)
        out.penultimate = x;
      x = layers[i](x, true);
    }
    out.last = final_norm(x);
    const auto rows = at::arange(
      at.size(0), torch::TensorOptions(torch::kInt64).device(at.device()));
    out.pooled = at::index(out.last, {rows, pool_at(at)});
    if (projection.defined())
      out.pooled = at::linear(out.pooled, projection);
    if (clip_skip > 1)
      out.last = final_norm(out.penultimate);
    return out;
  }
};

core::result<std::unique_ptr<clip_text>> clip_text::load(
  const component& from, const placement& where) {
  auto config = read_clip_text_config(from);
  if (!config)
    return config.why();
  return with_model_border(from.config_file, [&] {
    const c10::InferenceMode guard;
    weights tensors{from.weights, where};
    auto network = std::make_unique<impl>(tensors, *config);
    return std::unique_ptr<clip_text>{new clip_text{std::move(network)}};
  });
}

clip_text::clip_text(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

clip_text::~clip_text() = default;

clip_text_output clip_text::forward(const torch::Tensor& ids,
                                    uint32_t clip_skip) const {
  const c10::InferenceMode guard;
  return impl_->forward(ids, clip_skip);
}

const clip_text_config& clip_text::config() const {
  return impl_->config;
}

uint64_t clip_text::weight_bytes() const {
  return impl_->weight_bytes;
}

} // namespace atelier::gpu
