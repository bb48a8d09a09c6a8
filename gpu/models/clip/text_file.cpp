// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/text_file.hpp>
#include <atelier/gpu/models/files/inferred_part.hpp>
#include <atelier/gpu/models/files/name_parts.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace atelier::gpu::detail {

namespace {

struct whole_rule {
  std::string_view from;
  std::string_view to;
};

constexpr std::array end_rules = {
  whole_rule{"token_embedding.weight",
             "text_model.embeddings.token_embedding.weight"},
  whole_rule{"positional_embedding",
             "text_model.embeddings.position_embedding.weight"},
  whole_rule{"ln_final.weight", "text_model.final_layer_norm.weight"},
  whole_rule{"ln_final.bias", "text_model.final_layer_norm.bias"},
};

constexpr std::array layer_rules = {
  name_rule{"ln_1", "layer_norm1"},
  name_rule{"ln_2", "layer_norm2"},
  name_rule{"attn.out_proj", "self_attn.out_proj"},
  name_rule{"mlp.c_fc", "mlp.fc1"},
  name_rule{"mlp.c_proj", "mlp.fc2"},
};

/// Adds the thirds of a joint projection. Returns false if it cannot be split.
bool add_thirds(tensor_collection& to, const std::string& layer,
                std::string_view last, const tensor_view& joint) {
  constexpr std::array names = {"q_proj", "k_proj", "v_proj"};
  if (joint.shape.empty() || joint.shape[0] % 3 != 0)
    return false;
  auto third = joint;
  third.shape[0] /= 3;
  const auto bytes = joint.bytes.size() / 3;
  for (size_t i = 0; i < names.size(); ++i) {
    third.bytes = joint.bytes.subspan(i * bytes, bytes);
    to.add(fmt::format("{}self_attn.{}.{}", layer, names[i], last), third);
  }
  return true;
}

/// Adds one of OpenCLIP's tensors; returns false if it has no place.
bool add_open_clip(tensor_collection& to, std::string_view name,
                   const tensor_view& x, std::optional<size_t> without_layer) {
  for (const auto& rule : end_rules)
    if (rule.from == name)
      return to.add(std::string{rule.to}, x);
  if (name == "text_projection" && x.shape.size() == 2) {
    // A Linear layer stores the transpose of the original's matrix.
    auto turned = x;
    std::swap(turned.shape[0], turned.shape[1]);
    turned.transposed = true;
    return without_layer || to.add("text_projection.weight", turned);
  }
  constexpr std::string_view blocks = "transformer.resblocks.";
  if (!name.starts_with(blocks))
    return false;
  auto rest = name.substr(blocks.size());
  const auto number = number_of(take_word(rest));
  if (!number)
    return false;
  if (without_layer && *number >= *without_layer)
    return true;
  const auto layer = fmt::format("text_model.encoder.layers.{}.", *number);
  if (rest == "attn.in_proj_weight" || rest == "attn.in_proj_bias")
    return add_thirds(to, layer, rest.ends_with("weight") ? "weight" : "bias",
                      x);
  const auto fresh = apply_rule(layer_rules, rest);
  return fresh && to.add(layer + *fresh, x);
}

/// The parts of a text encoder. Older versions of transformers, and trainers
/// that saved the inner module, wrote them without "text_model.".
constexpr std::array clip_parts = {std::string_view{"embeddings."},
                                   std::string_view{"encoder."},
                                   std::string_view{"final_layer_norm."}};

} // namespace

std::shared_ptr<const tensor_source> name_clip_text(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::vector<std::string>& left_over) {
  auto out = std::make_shared<tensor_collection>(from->where());
  out->keep(from);
  for (const auto& name : from->names()) {
    if (!name.starts_with(prefix))
      continue;
    auto fresh = name.substr(prefix.size());
    if (std::ranges::any_of(clip_parts, [&](std::string_view part) {
          return fresh.starts_with(part);
        }))
      fresh.insert(0, "text_model.");
    // Positions 0, 1, 2, ... are a constant that older versions stored.
    if (fresh == "text_model.embeddings.position_ids")
      continue;
    if (!fresh.starts_with("text_model.")
        || !out->add(fresh, *from->find(name)))
      left_over.push_back(name);
  }
  return out;
}

std::shared_ptr<const tensor_source> name_open_clip_text(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::optional<size_t> without_layer, std::vector<std::string>& left_over) {
  auto out = std::make_shared<tensor_collection>(from->where());
  out->keep(from);
  for (const auto& name : from->names())
    if (name.starts_with(prefix)
        && !add_open_clip(*out, std::string_view{name}.substr(prefix.size()),
                          *from->find(name), without_layer))
      left_over.push_back(name);
  return out;
}

core::result<json_object> infer_text_config(const tensor_source& from,
                                            text_family family) {
  tensor_shapes x{from};
  const std::string embeddings = "text_model.embeddings.";
  const std::string layers = "text_model.encoder.layers.";
  const auto width = x.side(embeddings + "token_embedding.weight", 1);
  if (width % head_width != 0)
    x.fault(embeddings + "token_embedding.weight",
            fmt::format("of width {} cannot be split into heads of {}", width,
                        head_width));
  const bool projects = x.has("text_projection.weight");
  const auto* class_name =
    projects ? "CLIPTextModelWithProjection" : "CLIPTextModel";
  json_object out{
    {"architectures", {class_name}},
    {"model_type", "clip_text_model"},
    {"vocab_size", x.side(embeddings + "token_embedding.weight", 0)},
    {"hidden_size", width},
    {"intermediate_size", x.side(layers + "0.mlp.fc1.weight", 0)},
    {"projection_dim", projects ? x.side("text_projection.weight", 0) : width},
    {"num_hidden_layers", x.count(layers)},
    {"num_attention_heads", std::max<int64_t>(1, width / head_width)},
    {"max_position_embeddings",
     x.side(embeddings + "position_embedding.weight", 0)},
    {"hidden_act", family == text_family::clip ? "quick_gelu" : "gelu"},
    {"layer_norm_eps", 1e-5},
    {"attention_dropout", 0.0},
    {"bos_token_id", 0},
    // Not the vocabulary's own id: 2 selects the place of the highest id, as in
    // all models of that time.
    {"eos_token_id", 2},
    {"pad_token_id", 1}};
  if (x.why())
    return *x.why();
  return out;
}

} // namespace atelier::gpu::detail
