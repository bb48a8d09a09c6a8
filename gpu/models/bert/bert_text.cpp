// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/bert/bert_text.hpp>
#include <atelier/gpu/models/bert/detail/bert_names.hpp>
#include <atelier/gpu/models/layers/linear_layer.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

namespace {

struct bert_norm {
  torch::Tensor weight;
  torch::Tensor bias;
  double eps = 0;

  torch::Tensor operator()(const torch::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias, eps);
  }
};

struct bert_layer {
  detail::linear_layer query;
  detail::linear_layer key;
  detail::linear_layer value;
  detail::linear_layer attended;
  bert_norm attention_norm;
  detail::linear_layer widen;
  detail::linear_layer narrow;
  bert_norm output_norm;
};

bert_norm take_bert_norm(weights& from, const std::string& name,
                         const bert_config& config) {
  return {from.take(name + ".weight", {config.hidden_size}),
          from.take(name + ".bias", {config.hidden_size}),
          config.layer_norm_eps};
}

bert_layer take_bert_layer(weights& from, const std::string& name,
                           const bert_config& config) {
  const auto width = config.hidden_size;
  const auto linear = [&](const char* part, int64_t out, int64_t in) {
    return detail::linear_layer::take(from, name + part, out, in);
  };
  return {linear(".attention.self.query", width, width),
          linear(".attention.self.key", width, width),
          linear(".attention.self.value", width, width),
          linear(".attention.output.dense", width, width),
          take_bert_norm(from, name + ".attention.output.LayerNorm", config),
          linear(".intermediate.dense", config.intermediate_size, width),
          linear(".output.dense", width, config.intermediate_size),
          take_bert_norm(from, name + ".output.LayerNorm", config)};
}

torch::Tensor activated(torch::Tensor x, bert_activation by) {
  switch (by) {
    case bert_activation::gelu:
      return at::gelu_(x);
    case bert_activation::gelu_tanh:
      return at::gelu_(x, "tanh");
    case bert_activation::relu:
      return at::relu_(x);
  }
  return x;
}

} // namespace

struct bert_text::impl {
  bert_config config;
  torch::Tensor words;
  /// [positions, hidden_size]; includes the vector of the first sentence type.
  torch::Tensor positions;
  bert_norm input_norm;
  std::vector<bert_layer> layers;

  impl(weights& from, const bert_config& shape) : config(shape) {
    const auto width = config.hidden_size;
    const std::string tables = "embeddings.";
    words =
      from.take(tables + "word_embeddings.weight", {config.vocab_size, width});
    const auto types =
      from.take(tables + "token_type_embeddings.weight", {config.types, width});
    positions = from.take(tables + "position_embeddings.weight",
                          {config.max_position_embeddings, width})
              + types[0];
    input_norm = take_bert_norm(from, tables + "LayerNorm", config);
    for (int64_t i = 0; i < config.layers; ++i)
      layers.push_back(
        take_bert_layer(from, fmt::format("encoder.layer.{}", i), config));
    from.expect_all_taken();
  }

  torch::Tensor attend(const bert_layer& by, const torch::Tensor& x,
                       const std::optional<torch::Tensor>& mask) const {
    const auto rows = x.size(0);
    const auto tokens = x.size(1);
    const auto split = [&](const torch::Tensor& y) {
      return y.view({rows, tokens, config.heads, -1}).transpose(1, 2);
    };
    const auto y = at::scaled_dot_product_attention(
      split(by.query(x)), split(by.key(x)), split(by.value(x)), mask);
    return by.attended(y.transpose(1, 2).reshape({rows, tokens, -1}));
  }

  torch::Tensor forward(const torch::Tensor& ids,
                        const torch::Tensor& present) const {
    TORCH_CHECK(ids.dim() == 2, "token ids are of ", ids.dim(),
                " dimensions, not 2");
    TORCH_CHECK(ids.size(1) >= 1
                  && ids.size(1) <= config.max_position_embeddings,
                "a text has ", ids.size(1), " tokens, not 1 to ",
                config.max_position_embeddings);
    std::optional<torch::Tensor> mask;
    if (!present.all().item<bool>())
      mask = present.view({ids.size(0), 1, 1, ids.size(1)});
    auto x = input_norm(at::embedding(words, ids)
                        + positions.narrow(0, 0, ids.size(1)));
    for (const auto& layer : layers) {
      x = layer.attention_norm(x + attend(layer, x, mask));
      x = layer.output_norm(
        x + layer.narrow(activated(layer.widen(x), config.activation)));
    }
    return x;
  }
};

core::result<std::unique_ptr<bert_text>> bert_text::load(
  const component& from, const placement& where) {
  auto config = read_bert_config(from);
  if (!config)
    return config.why();
  return with_model_border(from.config_file, [&] {
    const c10::InferenceMode guard;
    weights tensors{detail::name_bert_text(from.weights), where};
    auto network = std::make_unique<impl>(tensors, *config);
    return std::unique_ptr<bert_text>{new bert_text{std::move(network)}};
  });
}

bert_text::bert_text(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

bert_text::~bert_text() = default;

torch::Tensor bert_text::forward(const torch::Tensor& ids,
                                 const torch::Tensor& present) const {
  const c10::InferenceMode guard;
  return impl_->forward(ids, present);
}

const bert_config& bert_text::config() const {
  return impl_->config;
}

} // namespace atelier::gpu
