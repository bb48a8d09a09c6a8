// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/bert/bert_config.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>

namespace atelier::gpu {

namespace {

// The limit on factors of a shape, so that products of three fit 64 bits.
constexpr int64_t widest_bert = 1 << 20;

bert_activation bert_activation_of(std::string_view name) {
  if (name == "gelu")
    return bert_activation::gelu;
  return name == "relu" ? bert_activation::relu : bert_activation::gelu_tanh;
}

} // namespace

core::result<bert_config> read_bert_config(const component& from) {
  detail::network_fields in{from.config, from.config_file};
  if (in.has("architectures"))
    in.texts("architectures", {},
             {"BertModel", "BertForMaskedLM", "BertForPreTraining"}, 1);
  in.text("model_type", "bert", {"bert"});

  bert_config out;
  out.vocab_size = in.integer("vocab_size", out.vocab_size, 1, 1 << 24);
  out.hidden_size = in.integer("hidden_size", out.hidden_size, 1, widest_bert);
  out.intermediate_size =
    in.integer("intermediate_size", out.intermediate_size, 1, widest_bert);
  out.layers = in.integer("num_hidden_layers", out.layers, 1, 1024);
  out.heads = in.integer("num_attention_heads", out.heads, 1, widest_bert);
  // A text has a start and an end token.
  out.max_position_embeddings = in.integer(
    "max_position_embeddings", out.max_position_embeddings, 2, widest_bert);
  out.types = in.integer("type_vocab_size", out.types, 1, widest_bert);
  out.activation = bert_activation_of(in.text(
    "hidden_act", "gelu", {"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"}));
  out.layer_norm_eps =
    in.number("layer_norm_eps", out.layer_norm_eps, 0.0, 1.0);
  if (out.hidden_size % out.heads != 0)
    in.refuse("num_attention_heads",
              fmt::format("a divisor of hidden_size {}", out.hidden_size));
  in.expect("position_embedding_type", "absolute");
  in.expect("is_decoder", false);
  in.expect("add_cross_attention", false);
  detail::ignore_records(in);
  in.ignore({"attention_probs_dropout_prob", "classifier_dropout",
             "directionality", "eos_token_id", "hidden_dropout_prob",
             "pooler_fc_size", "pooler_num_attention_heads",
             "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

} // namespace atelier::gpu
