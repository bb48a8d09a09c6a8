// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/text_encoder_net.hpp>

#include <fmt/format.h>

#include <cmath>

namespace atelier::gpu {

using namespace detail;

text_encoder_net::text_encoder_net(const clip_text_config& config,
                                   std::optional<at::Generator> generator)
  : config_(config) {
  const first_weights from{std::move(generator)};
  const std::string prefix = "text_model.";
  const auto width = config.hidden_size;
  const auto table = [&](const char* name, int64_t rows) {
    return make_layer<table_net>(*this, prefix + "embeddings." + name, rows,
                                 width, 0.02, from);
  };
  tokens_ = table("token_embedding", config.vocab_size);
  positions_ = table("position_embedding", config.max_position_embeddings);
  for (int64_t i = 0; i < config.layers; ++i)
    layers_.push_back(make_layer<clip_layer_net>(
      *this, fmt::format("{}encoder.layers.{}", prefix, i),
      clip_layer_shape{.width = width,
                       .inner = config.intermediate_size,
                       .heads = config.heads,
                       .layers = config.layers,
                       .activation = config.activation,
                       .eps = config.layer_norm_eps,
                       .causal = true},
      from));
  final_norm_ = make_layer<layer_norm_net>(*this, prefix + "final_layer_norm",
                                           width, config.layer_norm_eps);
  if (config.projection_dim != 0)
    projection_ = make_layer<linear_net>(
      *this, "text_projection",
      from.normal({config.projection_dim, width},
                  1 / std::sqrt(static_cast<double>(width))),
      torch::Tensor{});
}

text_states text_encoder_net::forward(const torch::Tensor& ids) {
  TORCH_CHECK(ids.dim() == 2, "token ids are of ", ids.dim(),
              " dimensions, not 2");
  TORCH_CHECK(ids.size(1) >= 1
                && ids.size(1) <= config_.max_position_embeddings,
              "a text has ", ids.size(1), " tokens, not 1 to ",
              config_.max_position_embeddings);
  auto x = at::embedding(tokens_->weight, ids)
         + positions_->weight.narrow(0, 0, ids.size(1));
  for (const auto& layer : layers_)
    x = (*layer)(x);
  text_states out;
  out.states = (*final_norm_)(x);
  const auto end = config_.pooling == clip_pooling::largest_id
                   ? ids.argmax(1)
                   : ids.eq(config_.eos_token_id).to(torch::kInt32).argmax(1);
  out.pooled =
    out.states
      .gather(1, end.view({-1, 1, 1}).expand({-1, 1, out.states.size(2)}))
      .squeeze(1);
  if (projection_)
    out.pooled = (*projection_)(out.pooled);
  return out;
}

} // namespace atelier::gpu
