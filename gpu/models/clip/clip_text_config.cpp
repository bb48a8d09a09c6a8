// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/detail/network_fields.hpp>

namespace atelier::gpu {

namespace {

// The limit on factors of a shape, so that products of three fit 64 bits.
constexpr int64_t widest = 1 << 20;

// A wrong eos_token_id in the first published files; it has meant pooling by
// the largest id ever since.
constexpr int64_t eos_by_mistake = 2;

// Ignores keys that every transformers configuration may have for generating
// text, training or its own records.
void pass_over_records(detail::network_fields& in) {
  in.ignore({"_attn_implementation",
             "_attn_implementation_autoset",
             "_commit_hash",
             "_name_or_path",
             "architectures",
             "attention_dropout",
             "attn_implementation",
             "begin_suppress_tokens",
             "bos_token_id",
             "chunk_size_feed_forward",
             "diversity_penalty",
             "do_sample",
             "dropout",
             "dtype",
             "early_stopping",
             "encoder_no_repeat_ngram_size",
             "experts_implementation",
             "gradient_checkpointing",
             "id2label",
             "initializer_factor",
             "initializer_range",
             "label2id",
             "length_penalty",
             "max_length",
             "min_length",
             "no_repeat_ngram_size",
             "num_beam_groups",
             "num_beams",
             "num_labels",
             "num_return_sequences",
             "output_attentions",
             "output_hidden_states",
             "output_scores",
             "pad_token_id",
             "problem_type",
             "projection_dim",
             "remove_invalid_values",
             "repetition_penalty",
             "return_dict",
             "return_dict_in_generate",
             "sep_token_id",
             "suppress_tokens",
             "task_specific_params",
             "temperature",
             "tie_encoder_decoder",
             "tie_word_embeddings",
             "tokenizer_class",
             "top_k",
             "top_p",
             "torch_dtype",
             "torchscript",
             "transformers_version",
             "typical_p",
             "use_cache",
             "vision_config"});
}

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
  out.max_position_embeddings = in.integer(
    "max_position_embeddings", out.max_position_embeddings, 1, widest);
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
  pass_over_records(in);
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

} // namespace atelier::gpu
