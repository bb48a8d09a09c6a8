// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>

#include <nlohmann/json.hpp>

#include <utility>

namespace atelier::gpu {

namespace {

using json = nlohmann::ordered_json;

std::string text_of(const json& x) {
  return x.dump(2) + "\n";
}

json scorer_json() {
  const auto x = family_scorer();
  auto text = json::parse(text_encoder_config_text());
  text.erase("architectures");
  text.erase("dtype");
  return {
    {"architectures", json::array({"CLIPModel"})},
    {"model_type", "clip"},
    {"projection_dim", x.text.projection_dim},
    {"dtype", "float32"},
    {"text_config", std::move(text)},
    {"vision_config",
     {
       {"model_type", "clip_vision_model"},
       {"hidden_size", x.width},
       {"intermediate_size", x.inner},
       {"num_hidden_layers", x.layers},
       {"num_attention_heads", x.heads},
       {"num_channels", 3},
       {"image_size", x.side},
       {"patch_size", x.patch},
       {"hidden_act", "gelu"},
       {"layer_norm_eps", 1e-5},
       {"projection_dim", x.text.projection_dim},
     }},
  };
}

} // namespace

std::string text_encoder_config_text() {
  return text_of({
    {"architectures", json::array({"CLIPTextModel"})},
    {"model_type", "clip_text_model"},
    {"vocab_size", caption_vocabulary().tokens.size()},
    {"hidden_size", family_text_width},
    {"intermediate_size", 4 * family_text_width},
    {"num_hidden_layers", 4},
    {"num_attention_heads", 4},
    {"max_position_embeddings", family_tokens},
    {"hidden_act", "gelu"},
    {"layer_norm_eps", 1e-5},
    {"projection_dim", family_text_width},
    {"bos_token_id", bpe_vocabulary::start_id},
    {"eos_token_id", bpe_vocabulary::end_id},
    {"pad_token_id", bpe_vocabulary::end_id},
    // Otherwise transformers computes in the type of the weights' file, which
    // the other networks' library does not.
    {"dtype", "float32"},
  });
}

clip_text_config family_text_encoder() {
  component alone;
  alone.config = text_encoder_config_text();
  alone.config_file = "config.json";
  alone.class_name = "CLIPTextModel";
  return *read_clip_text_config(alone);
}

scorer_config family_scorer() {
  scorer_config out;
  out.text = family_text_encoder();
  out.text.projection_dim = out.text.hidden_size;
  return out;
}

std::string scorer_config_text() {
  return text_of(scorer_json());
}

discriminator_config family_discriminator() {
  return {.towers = family_scorer()};
}

std::string discriminator_config_text() {
  auto towers = scorer_json();
  towers.erase("architectures");
  towers.erase("dtype");
  return text_of({
    {"model_type", "atelier_discriminator"},
    {"inner_size", family_discriminator().inner},
    {"scorer_config", std::move(towers)},
  });
}

} // namespace atelier::gpu
