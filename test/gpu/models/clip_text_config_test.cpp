// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_text_config.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(clip_text_config)

namespace {

auto read(std::string text, std::string class_name = "CLIPTextModel") {
  return read_clip_text_config(
    {std::move(text), "te/config.json", std::move(class_name), nullptr, {}});
}

void refused(const std::string& text, std::string_view key,
             std::string_view value, std::string class_name = {}) {
  const auto x = read(text, std::move(class_name));
  BOOST_REQUIRE_MESSAGE(!x, text);
  BOOST_CHECK(x.why().code == core::ec::bad_config);
  for (const auto part : {std::string_view{"te/config.json"}, key, value})
    BOOST_CHECK_MESSAGE(x.why().text.find(part) != std::string::npos,
                        x.why().text + " lacks " + std::string{part});
}

} // namespace

BOOST_AUTO_TEST_CASE(what_a_file_leaves_out_is_the_default) {
  const auto x = read("{}");
  BOOST_REQUIRE(x);
  BOOST_TEST(x->hidden_size == 512);
  BOOST_TEST(x->eos_token_id == 49407);
  BOOST_CHECK(x->pooling == clip_pooling::first_end);
  BOOST_CHECK(x->activation == clip_activation::quick_gelu);
  BOOST_TEST(x->projection_dim == 0);
}

BOOST_AUTO_TEST_CASE(stable_diffusion_1_is_read) {
  const auto x = read(R"({
    "_name_or_path": "openai/clip-vit-large-patch14",
    "architectures": ["CLIPTextModel"], "attention_dropout": 0.0,
    "bos_token_id": 0, "dropout": 0.0, "eos_token_id": 2,
    "hidden_act": "quick_gelu", "hidden_size": 768, "initializer_factor": 1.0,
    "initializer_range": 0.02, "intermediate_size": 3072,
    "layer_norm_eps": 1e-05, "max_position_embeddings": 77,
    "model_type": "clip_text_model", "num_attention_heads": 12,
    "num_hidden_layers": 12, "pad_token_id": 1, "projection_dim": 768,
    "torch_dtype": "float32", "transformers_version": "4.22.0.dev0",
    "vocab_size": 49408})");
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST(x->heads == 12);
  BOOST_TEST(x->intermediate_size == 3072);
  BOOST_CHECK(x->pooling == clip_pooling::largest_id);
  BOOST_TEST(x->projection_dim == 0);
}

BOOST_AUTO_TEST_CASE(a_projection_is_the_class_and_not_the_key) {
  const auto text = R"({"projection_dim": 1280, "hidden_act": "gelu",
    "architectures": ["CLIPTextModelWithProjection"]})";
  const auto x = read(text, "CLIPTextModelWithProjection");
  BOOST_REQUIRE(x);
  BOOST_TEST(x->projection_dim == 1280);
  BOOST_CHECK(x->activation == clip_activation::gelu);
  BOOST_TEST(read(text)->projection_dim == 0);
  // If the model gives no name, the file's own name counts.
  BOOST_TEST(read(text, "")->projection_dim == 1280);
}

BOOST_AUTO_TEST_CASE(the_text_part_of_a_whole_clip_is_read) {
  const auto x = read(R"({"model_type": "clip", "vision_config": {"a": 1},
    "logit_scale_init_value": 2.6, "text_config":
      {"hidden_size": 96, "num_attention_heads": 3, "is_decoder": false}})");
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST(x->hidden_size == 96);
  refused(R"({"model_type": "clip", "text_config": {"hidden_size": 0}})",
          "text_config.hidden_size", "0");
  refused(R"({"model_type": "clip", "text_config": 3})", "text_config", "3");
}

BOOST_AUTO_TEST_CASE(values_out_of_range_are_refused_by_key) {
  refused(R"({"hidden_size": "768"})", "hidden_size", "\"768\"");
  refused(R"({"hidden_size": -1})", "hidden_size", "-1");
  refused(R"({"hidden_size": 1e3})", "hidden_size", "1000");
  refused(R"({"vocab_size": 99999999999999999999})", "vocab_size", "1e+20");
  refused(R"({"num_hidden_layers": 0})", "num_hidden_layers", "0");
  refused(R"({"max_position_embeddings": 1})", "max_position_embeddings", "1");
  refused(R"({"num_attention_heads": 7})", "num_attention_heads", "7");
  refused(R"({"hidden_act": "relu"})", "hidden_act", "relu");
  refused(R"({"layer_norm_eps": null})", "layer_norm_eps", "null");
  refused(R"({"eos_token_id": null})", "eos_token_id", "null");
  refused(R"({"eos_token_id": [2, 3]})", "eos_token_id", "[2,3]");
  refused(R"({"model_type": "t5"})", "model_type", "t5");
  refused(R"({"projection_dim": 0})", "projection_dim", "0",
          "CLIPTextModelWithProjection");
  refused("{}", "class", "T5EncoderModel", "T5EncoderModel");
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_refused_unless_they_ask_for_nothing) {
  BOOST_CHECK(read(R"({"is_decoder": false, "pruned_heads": {}, "x": null})"));
  refused(R"({"is_decoder": true})", "is_decoder", "true");
  refused(R"({"rotary": 4})", "rotary", "4");
  refused(R"({"quantization_config": {"bits": 4}})", "quantization_config",
          "bits");
}

BOOST_AUTO_TEST_CASE(what_is_no_object_is_refused) {
  refused("", "not a JSON object", "");
  refused("{\"a\": ", "not a JSON object", "");
  refused("[]", "not a JSON object", "");
  std::string deep;
  for (int i = 0; i < 100'000; ++i)
    deep += "[";
  refused("{\"a\": " + deep, "nested", "");
  const std::string closed(100'000, ']');
  refused("{\"a\": " + deep + closed + "}", "nested", "");
  refused("{\"a\": \"" + std::string(1000, 'x') + "\"}", "a", "...");
  refused("{\"\\u0007\": 1}", "\\u0007", "1");
}

BOOST_AUTO_TEST_SUITE_END()
