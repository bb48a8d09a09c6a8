// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <string>

using namespace atelier;
using gpu::parse_unet_config;

namespace {

core::error refused(const std::string& text) {
  const auto parsed = parse_unet_config(text, "unet/config.json");
  BOOST_REQUIRE(!parsed);
  BOOST_TEST(bool(parsed.why().code == core::ec::bad_config));
  BOOST_TEST(parsed.why().text.find("unet/config.json") == 0u);
  return parsed.why();
}

gpu::unet_config accepted(const std::string& text) {
  const auto parsed = parse_unet_config(text, "unet/config.json");
  BOOST_REQUIRE_MESSAGE(bool(parsed), (parsed ? "" : to_string(parsed.why())));
  return *parsed;
}

struct bad_pair {
  const char* key;
  const char* value;
};

std::ostream& operator<<(std::ostream& to, const bad_pair& x) {
  return to << x.key << " = " << x.value;
}

const std::vector<bad_pair> bad_pairs{
  {"_class_name", "\"UNet3DConditionModel\""},
  {"act_fn", "\"gelu\""},
  {"act_fn", "null"},
  {"addition_embed_type", "\"image\""},
  {"addition_embed_type", "\"text_image\""},
  {"addition_embed_type_num_heads", "0"},
  {"attention_head_dim", "7"},
  {"attention_head_dim", "[8, 8]"},
  {"attention_head_dim", "\"8\""},
  {"attention_type", "\"gated\""},
  {"block_out_channels", "[320, 640]"},
  {"block_out_channels", "[320, 640, 1280, 1281]"},
  {"block_out_channels", "[320, 640, 1280, -1280]"},
  {"block_out_channels", "320"},
  {"center_input_sample", "1"},
  {"class_embed_type", "\"timestep\""},
  {"class_embeddings_concat", "true"},
  {"conv_in_kernel", "4"},
  {"conv_out_kernel", "-3"},
  {"cross_attention_dim", "[768, 768, 1280, 768]"},
  {"cross_attention_dim", "0"},
  {"cross_attention_norm", "\"layer_norm\""},
  {"down_block_types", "[]"},
  {"down_block_types", "[\"SimpleCrossAttnDownBlock2D\"]"},
  {"down_block_types", "[\"DownBlock2D\", 1]"},
  {"downsample_padding", "2"},
  {"dual_cross_attention", "true"},
  {"encoder_hid_dim_type", "\"image_proj\""},
  {"encoder_hid_dim_type", "\"ip_image_proj\""},
  {"freq_shift", "2"},
  {"in_channels", "0"},
  {"in_channels", "4.5"},
  {"in_channels", "null"},
  {"in_channels", "99999999999999999999"},
  {"layers_per_block", "0"},
  {"layers_per_block", "[2, 2, 2]"},
  {"mid_block_scale_factor", "0"},
  {"mid_block_type", "\"UNetMidBlock2DSimpleCrossAttn\""},
  {"norm_eps", "\"small\""},
  {"norm_num_groups", "null"},
  {"norm_num_groups", "7"},
  {"num_attention_heads", "8"},
  {"num_class_embeds", "1000"},
  {"only_cross_attention", "[true]"},
  {"only_cross_attention", "1"},
  {"projection_class_embeddings_input_dim", "2816"},
  {"resnet_out_scale_factor", "2.0"},
  {"resnet_skip_time_act", "true"},
  {"resnet_time_scale_shift", "\"ada_group\""},
  {"reverse_transformer_layers_per_block", "[1, 1, 1]"},
  {"time_cond_proj_dim", "-1"},
  {"time_cond_proj_dim", "3"},
  {"time_embedding_act_fn", "\"silu\""},
  {"time_embedding_type", "\"fourier\""},
  {"timestep_post_act", "\"silu\""},
  {"transformer_layers_per_block", "-1"},
  {"transformer_layers_per_block", "[1, 1, 1]"},
  {"transformer_layers_per_block", "[1, [1], 1, 65]"},
  {"up_block_types", "[\"UpBlock2D\"]"},
  {"use_linear_projection", "null_"},
  {"sample_size", "[64, 32]"},
  {"decay", "0.9999"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(unet_config_test)

BOOST_AUTO_TEST_CASE(empty_object_is_diffusers_defaults) {
  const auto config = accepted("{}");
  BOOST_TEST(config.in_channels == 4);
  BOOST_TEST(config.cross_attention_dim == 1280);
  BOOST_TEST(config.time_embedding_dim == 1280);
  BOOST_REQUIRE(config.down.size() == 4u);
  BOOST_TEST(config.down[2].channels == 1280);
  BOOST_TEST(config.down[2].layers.size() == 2u);
  BOOST_TEST(config.down[2].layers[0].value() == 1);
  BOOST_TEST(!config.down[3].layers[0]);
  BOOST_TEST(!config.up[0].layers[0]);
  BOOST_TEST(config.up[3].layers.size() == 3u);
  BOOST_TEST(config.up[3].channels == 320);
  BOOST_TEST(bool(config.middle == gpu::unet_middle::cross_attention));
}

BOOST_DATA_TEST_CASE(unsupported_value_is_refused_with_its_key,
                     boost::unit_test::data::make(bad_pairs), pair) {
  auto value = std::string{pair.value};
  if (value == "null_")
    value = "\"yes\"";
  const auto why = refused(fmt::format("{{\"{}\": {}}}", pair.key, value));
  BOOST_TEST_CONTEXT(why.text)
  BOOST_TEST(why.text.find(pair.key) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refusal_tells_the_value) {
  BOOST_TEST(refused(R"({"act_fn": "gelu"})").text
             == "unet/config.json: act_fn is \"gelu\", not one of silu, swish");
  BOOST_TEST(refused(R"({"scale": [1, {}]})").text
             == "unet/config.json: scale is [1,{}], which is not supported");
}

BOOST_AUTO_TEST_CASE(what_is_no_object_is_refused) {
  for (const auto* text : {"", "[]", "{", "7", "{\"in_channels\": 4,}", "\xff"})
    refused(text);
}

BOOST_AUTO_TEST_CASE(long_values_are_cut_in_messages) {
  const auto why =
    refused("{\"act_fn\": \"" + std::string(100'000, 'x') + "\"}");
  BOOST_TEST(why.text.size() < 300u);
}

BOOST_AUTO_TEST_CASE(head_count_is_called_attention_head_dim) {
  const auto config = accepted(
    R"({"attention_head_dim": [5, 10, 20, 20], "num_attention_heads": null})");
  BOOST_TEST(config.down[1].heads == 10);
  BOOST_TEST(config.up[1].heads == 20);
  BOOST_TEST(config.up[3].heads == 5);
  BOOST_TEST(config.middle_heads == 20);
}

BOOST_AUTO_TEST_CASE(heads_of_a_level_without_attention_do_not_matter) {
  const auto config =
    accepted(R"({"attention_head_dim": [8, 8, 8, 7], "mid_block_type": null})");
  BOOST_TEST(bool(config.middle == gpu::unet_middle::none));
}

BOOST_AUTO_TEST_CASE(transformers_are_counted_by_layer) {
  const auto config = accepted(R"({
    "block_out_channels": [320, 640, 1280], "layers_per_block": [2, 2, 2],
    "down_block_types":
      ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    "transformer_layers_per_block": [0, [2, 1], [4, 4]],
    "reverse_transformer_layers_per_block": [[4, 4, 10], [2, 1, 1], 1]})");
  BOOST_TEST(!config.down[0].layers[0]);
  BOOST_TEST(config.down[1].layers[1].value() == 1);
  BOOST_TEST(config.up[0].layers[2].value() == 10);
  BOOST_TEST(!config.up[2].layers[0]);
  BOOST_TEST(config.middle_transformer_blocks == 4);
}

BOOST_AUTO_TEST_CASE(uneven_transformers_need_the_way_back) {
  const auto why = refused(
    R"({"transformer_layers_per_block": [[1, 1], [1, 2], [1, 1], [1, 1]]})");
  BOOST_TEST(why.text.find("reverse_transformer_layers_per_block")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(too_few_transformers_for_a_level_are_refused) {
  const auto why = refused(R"({"layers_per_block": 3,
    "transformer_layers_per_block": [1, [1, 2], 1, 1],
    "reverse_transformer_layers_per_block": [1, 1, 1, 1]})");
  BOOST_TEST(why.text.find("transformer_layers_per_block")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(micro_conditioning_needs_its_sizes) {
  BOOST_TEST(refused(R"({"addition_embed_type": "text_time"})")
               .text.find("addition_time_embed_dim")
             != std::string::npos);
  const auto config = accepted(R"({"addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816})");
  BOOST_TEST(bool(config.addition == gpu::unet_addition::text_time));
  BOOST_TEST(config.addition_input_dim == 2816);
}

BOOST_AUTO_TEST_SUITE_END()
