// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text.hpp>
#include <atelier/gpu/models/layers/detail/linear_layer.hpp>
#include <atelier/gpu/models/weights.hpp>

namespace atelier::gpu {

namespace {

struct layer_norm {
  torch::Tensor weight;
  torch::Tensor bias;
  double eps = 0;

  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias, eps);
  }
};

struct encoder_layer {
  layer_norm norm1;
  detail::linear_layer query;
  detail::linear_layer key;
  detail::linear_layer value;
  detail::linear_layer out;
  layer_norm norm2;
  detail::linear_layer widen;
  detail::linear_layer narrow;
};

layer_norm take_norm(weights& from, const std::string& name,
                     const clip_text_config& config) {
  const auto size = config.hidden_size;
  return {from.take(name + ".weight", {size}),
          from.take(name + ".bias", {size}), config.layer_norm_eps};
}

encoder_layer take_layer(weights& from, const std::string& name,
                         const clip_text_config& config) {
  const auto width = config.hidden_size;
  const auto linear = [&](const char* what, int64_t out, int64_t in) {
    return detail::linear_layer::take(from, name + what, out, in);
  };
  return {take_norm(from, name + ".layer_norm1", config),
          linear(".self_attn.q_proj", width, width),
          linear(".self_attn.k_proj", width, width),
          linear(".self_attn.v_proj", width, width),
          linear(".self_attn.out_proj", width, width),
          take_norm(from, name + ".layer_norm2", config),
          linear(".mlp.fc1", config.intermediate_size, width),
          linear(".mlp.fc2", width, config.intermediate_size)};
}

torch::Tensor activate(torch::Tensor x, clip_activation how) {
  switch (how) {
    case clip_activation::quick_gelu:
      return x.mul_(at::sigmoid(x * 1.702));
    case clip_activation::gelu:
      return at::gelu_(x);
    case clip_activation::gelu_tanh:
      return at::gelu_(x, "tanh");
  }
  return x;
}

} // namespace

struct clip_text::impl {
  clip_text_config config;
  torch::Tensor token_embedding;
  torch::Tensor position_embedding;
  std::vector<encoder_layer> layers;
  layer_norm final_norm;
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
    for (int64_t i = 0; i < config.layers; ++i)
      layers.push_back(take_layer(
        from, fmt::format("{}encoder.layers.{}", prefix, i), config));
    final_norm = take_norm(from, prefix + "final_layer_norm", config);
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
    const auto norm = [](const layer_norm& x) {
      return x.weight.nbytes() + x.bias.nbytes();
    };
    auto sum = token_embedding.nbytes() + position_embedding.nbytes()
             + norm(final_norm)
             + (projection.defined() ? projection.nbytes() : 0);
    for (const auto& x : layers)
      sum += norm(x.norm1) + x.query.bytes() + x.key.bytes() + x.value.bytes()
           + x.out.bytes() + norm(x.norm2) + x.widen.bytes() + x.narrow.bytes();
    return sum;
  }

  torch::Tensor attend(const encoder_layer& with,
                       const torch::Tensor& x) const {
    const auto n = x.size(0);
    const auto tokens = x.size(1);
    const auto split = [&](const torch::Tensor& y) {
      return y.view({n, tokens, config.heads, -1}).transpose(1, 2);
    };
    const auto y = at::scaled_dot_product_attention(
      split(with.query(x)), split(with.key(x)), split(with.value(x)),
      std::nullopt, 0.0, true);
    return with.out(y.transpose(1, 2).reshape({n, tokens, -1}));
  }

  // Returns the position of each row's pooled state.
  torch::Tensor pool_at(const torch::Tensor& ids) const {
    if (config.pooling == clip_pooling::largest_id)
      return ids.argmax(-1);
    return ids.eq(config.eos_token_id).to(torch::kInt32).argmax(-1);
  }

  clip_text_output forward(const torch::Tensor& ids) const {
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
    for (const auto& layer : layers) {
      if (&layer == &layers.back())
        out.penultimate = x;
      x = x + attend(layer, layer.norm1(x));
      x.add_(
        layer.narrow(activate(layer.widen(layer.norm2(x)), config.activation)));
    }
    out.last = final_norm(x);
    const auto rows = at::arange(
      at.size(0), torch::TensorOptions(torch::kInt64).device(at.device()));
    out.pooled = at::index(out.last, {rows, pool_at(at)});
    if (projection.defined())
      out.pooled = at::linear(out.pooled, projection);
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

clip_text_output clip_text::forward(const torch::Tensor& ids) const {
  const c10::InferenceMode guard;
  return impl_->forward(ids);
}

const clip_text_config& clip_text::config() const {
  return impl_->config;
}

uint64_t clip_text::weight_bytes() const {
  return impl_->weight_bytes;
}

} // namespace atelier::gpu
