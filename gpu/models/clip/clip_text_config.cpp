// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>
#include <atelier/gpu/models/files/tensor_table.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

namespace {

// The limit on factors of a shape, so that products of three fit 64 bits.
constexpr int64_t widest = 1 << 20;

// A wrong eos_token_id in the first published files; it has meant pooling by
// the largest id ever since.
constexpr int64_t eos_by_mistake = 2;

clip_activation activation_of(std::string_view name) {
  if (name == "quick_gelu")
    return clip_activation::quick_gelu;
  if (name == "gelu")
    return clip_activation::gelu;
  return clip_activation::gelu_tanh;
}

} // namespace

core::result<clip_text_config> read_clip_text_config(const component& from) {
  detail::network_fields in{from.config, from.config_file};
  auto class_name = from.class_name;
  if (class_name.empty() && in.has("architectures"))
    class_name = in.texts("architectures", {"CLIPTextModel"},
                          {"CLIPTextModel", "CLIPTextModelWithProjection"}, 1)
                   .front();
  if (class_name.empty())
    class_name = "CLIPTextModel";
  const auto projected = class_name == "CLIPTextModelWithProjection";
  if (!projected && class_name != "CLIPTextModel")
    return core::fail(core::ec::bad_config,
                      "{}: text encoder of class {}, not CLIPTextModel or "
                      "CLIPTextModelWithProjection",
                      from.config_file, class_name);
  const auto model_type =
    in.text("model_type", "clip_text_model", {"clip_text_model", "clip"});
  // A whole CLIP contains its text encoder's configuration.
  if (model_type == "clip")
    in.descend("text_config");
  in.expect("model_type", "clip_text_model");

  clip_text_config out;
  out.vocab_size = in.integer("vocab_size", out.vocab_size, 1, 1 << 24);
  out.hidden_size = in.integer("hidden_size", out.hidden_size, 1, widest);
  out.intermediate_size =
    in.integer("intermediate_size", out.intermediate_size, 1, widest);
  out.layers = in.integer("num_hidden_layers", out.layers, 1, 1024);
  out.heads = in.integer("num_attention_heads", out.heads, 1, widest);
  // The start and the end of a prompt need a token each.
  out.max_position_embeddings = in.integer(
    "max_position_embeddings", out.max_position_embeddings, 2, widest);
  out.activation = activation_of(
    in.text("hidden_act", "quick_gelu",
            {"quick_gelu", "gelu", "gelu_new", "gelu_pytorch_tanh"}));
  out.layer_norm_eps =
    in.number("layer_norm_eps", out.layer_norm_eps, 0.0, 1.0);
  out.eos_token_id = in.integer("eos_token_id", out.eos_token_id, 0, 1 << 24);
  out.pooling = out.eos_token_id == eos_by_mistake ? clip_pooling::largest_id
                                                   : clip_pooling::first_end;
  if (projected)
    out.projection_dim = in.integer("projection_dim", 512, 1, widest);
  if (out.hidden_size % out.heads != 0)
    in.refuse("num_attention_heads",
              fmt::format("a divisor of hidden_size {}", out.hidden_size));
  detail::ignore_records(in);
  in.ignore({"projection_dim", "vision_config"});
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

void expect_clip_text(const clip_text_config& x, detail::tensor_table& to) {
  const auto width = x.hidden_size;
  to.add("text_model.embeddings.token_embedding.weight", {x.vocab_size, width});
  to.add("text_model.embeddings.position_embedding.weight",
         {x.max_position_embeddings, width});
  for (int64_t i = 0; i < x.layers && !to.full(); ++i) {
    const auto layer = fmt::format("text_model.encoder.layers.{}.", i);
    to.add_norm(layer + "layer_norm1", width);
    to.add_norm(layer + "layer_norm2", width);
    for (const auto* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
      to.add_linear(fmt::format("{}self_attn.{}", layer, part), width, width);
    to.add_linear(layer + "mlp.fc1", width, x.intermediate_size);
    to.add_linear(layer + "mlp.fc2", x.intermediate_size, width);
  }
  to.add_norm("text_model.final_layer_norm", width);
  if (x.projection_dim > 0)
    to.add("text_projection.weight", {x.projection_dim, width});
}

core::result<std::shared_ptr<const tokenizer>> load_words(
  const tokenizer_files& from, const component* encoder) {
  auto words = tokenizer::load(from);
  if (!words || encoder == nullptr)
    return words;
  const auto config = read_clip_text_config(*encoder);
  if (!config)
    return config.why();
  if ((*words)->vocabulary_size() > config->vocab_size)
    return core::fail(core::ec::bad_payload,
                      "{}: ids up to {}, outside 0..{} (vocab_size of {})",
                      from.words().string(), (*words)->vocabulary_size() - 1,
                      config->vocab_size - 1, encoder->config_file);
  return words;
}

} // namespace atelier::gpu
