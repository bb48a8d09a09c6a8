// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/clip/text_file.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/unet/detail/inferred_unet.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>
#include <atelier/gpu/models/vae/vae_file.hpp>

#include <boost/test/unit_test.hpp>

#include <random>

using namespace atelier;
using namespace atelier::gpu;
using namespace atelier::gpu::detail;
using nlohmann::json;

namespace {

component part_of(const std::string& class_name, const json& config) {
  component out;
  out.class_name = class_name;
  out.config = config.dump();
  out.config_file = "c.json";
  return out;
}

expected_tensors expected_of(const component& x) {
  auto out = expect_tensors(x);
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return std::move(*out);
}

/// Returns tensors of those shapes, without any numbers.
std::shared_ptr<tensor_collection> shapes_only(const expected_tensors& x) {
  auto out = std::make_shared<tensor_collection>("w.safetensors");
  for (const auto& [name, shape] : x)
    out->add(name, {tensor_type::float32, shape, {}});
  return out;
}

std::string refusal(const std::string& class_name, const json& config) {
  const auto x = expect_tensors(part_of(class_name, config));
  if (x)
    return "known";
  BOOST_TEST((x.why().code == core::ec::bad_config));
  return x.why().text;
}

struct random_source {
  std::mt19937_64 engine{test::seed()};

  size_t below(size_t n) {
    return engine() % n;
  }

  bool coin() {
    return below(2) == 0;
  }

  json unet() {
    const auto levels = 1 + below(4);
    const bool linear = coin();
    const auto layers = 1 + below(3);
    const auto depth = 1 + below(3);
    const bool same_depth = coin();
    json x{{"in_channels", coin() ? 4 : 9},
           {"out_channels", 4},
           {"layers_per_block", layers},
           {"cross_attention_dim", 8 * (1 + below(9))},
           {"use_linear_projection", linear},
           {"mid_block_type", nullptr}};
    std::vector<std::string> down;
    std::vector<std::string> up;
    for (size_t i = 0; i < levels; ++i) {
      // Without any attention, no tensor would show how attention is made.
      const bool attends = i == 0 || coin();
      x["block_out_channels"].push_back(64 * (1 + below(4)));
      x["transformer_layers_per_block"].emplace_back(!attends ? 1
                                                     : same_depth
                                                       ? depth
                                                       : 1 + below(3));
      down.emplace_back(attends ? "CrossAttnDownBlock2D" : "DownBlock2D");
      up.insert(up.begin(), attends ? "CrossAttnUpBlock2D" : "UpBlock2D");
    }
    x["down_block_types"] = down;
    x["up_block_types"] = up;
    if (below(3) > 0)
      x["mid_block_type"] =
        coin() ? "UNetMidBlock2DCrossAttn" : "UNetMidBlock2D";
    if (coin()) {
      x["addition_embed_type"] = "text_time";
      x["addition_time_embed_dim"] = 256;
      x["projection_class_embeddings_input_dim"] = 1536 + 32 * (1 + below(8));
    }
    if (coin())
      x["time_cond_proj_dim"] = 16;
    return x;
  }

  json vae() {
    const auto levels = 1 + below(4);
    json x{{"in_channels", 3},
           {"out_channels", 3},
           {"latent_channels", coin() ? 4 : 16},
           {"layers_per_block", 1 + below(3)},
           {"use_quant_conv", coin()},
           {"use_post_quant_conv", coin()},
           {"mid_block_add_attention", coin()}};
    for (size_t i = 0; i < levels; ++i) {
      x["block_out_channels"].push_back(32 * (1 + below(4)));
      x["down_block_types"].push_back("DownEncoderBlock2D");
      x["up_block_types"].push_back("UpDecoderBlock2D");
    }
    return x;
  }

  json text() {
    return {{"hidden_size", 64 * (1 + below(4))},
            {"intermediate_size", 16 * (1 + below(9))},
            {"vocab_size", 10 + below(90)},
            {"max_position_embeddings", 77},
            {"num_hidden_layers", 1 + below(12)},
            {"projection_dim", 8 * (1 + below(9))}};
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(config_shapes_test)

BOOST_AUTO_TEST_CASE(a_configuration_told_from_shapes_asks_for_those_shapes) {
  random_source draw;
  for (size_t i = test::scaled(5'000); i > 0; --i) {
    const auto unet = expected_of(part_of("UNet2DConditionModel", draw.unet()));
    const auto told = infer_unet_config(*shapes_only(unet), {});
    BOOST_REQUIRE_MESSAGE(told, (told ? "" : told.why().text));
    BOOST_REQUIRE(
      (expected_of(part_of("UNet2DConditionModel", json(*told))) == unet));
    const auto vae = expected_of(part_of("AutoencoderKL", draw.vae()));
    const auto told_vae = infer_vae_config(*shapes_only(vae), {});
    BOOST_REQUIRE(told_vae);
    BOOST_REQUIRE(
      (expected_of(part_of("AutoencoderKL", json(*told_vae))) == vae));
    const std::string class_name =
      draw.coin() ? "CLIPTextModel" : "CLIPTextModelWithProjection";
    const auto text = expected_of(part_of(class_name, draw.text()));
    const auto told_text =
      infer_text_config(*shapes_only(text), text_family::clip);
    BOOST_REQUIRE(told_text);
    BOOST_REQUIRE((expected_of(part_of(class_name, json(*told_text))) == text));
  }
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_denoiser_alone_is_told_from_its_widths) {
  const auto kind_of = [](const char* text) {
    return &pipeline_of_unet(json::parse(text));
  };
  BOOST_TEST((kind_of("{}") == &stable_diffusion));
  BOOST_TEST(
    (kind_of(R"({"time_cond_proj_dim": 256})") == &latent_consistency));
  BOOST_TEST((kind_of(R"({"addition_embed_type": "text_time",
    "addition_time_embed_dim": 256, "cross_attention_dim": 2048,
    "projection_class_embeddings_input_dim": 2816})")
              == &stable_diffusion_xl));
  BOOST_TEST((kind_of(R"({"addition_embed_type": "text_time",
    "addition_time_embed_dim": 256, "cross_attention_dim": 1280,
    "projection_class_embeddings_input_dim": 2560})")
              == &stable_diffusion_xl_refiner));
}

BOOST_AUTO_TEST_CASE(missing_extra_and_misshapen_tensors_are_named) {
  auto x =
    part_of("UNet2DConditionModel", json::parse(test::tiny_unet_config()));
  auto expected = expected_of(x);
  const auto faults_of = [&](const expected_tensors& tensors) {
    x.weights = shapes_only(tensors);
    return *compare_tensors(x);
  };
  BOOST_TEST(faults_of(expected).empty());
  auto changed = expected;
  changed.erase("conv_in.bias");
  changed["conv_out.bias"] = {4, 1};
  changed["more.weight"] = {1};
  const std::vector<std::string> told = {
    "w.safetensors: tensor conv_out.bias has shape [4, 1], not [4]",
    "w.safetensors: tensor more.weight has no place in a "
    "UNet2DConditionModel of that configuration",
    "w.safetensors: tensor conv_in.bias is missing"};
  BOOST_TEST((faults_of(changed) == told));
  auto wrong = std::make_shared<tensor_collection>("w.safetensors");
  wrong->add("conv_in.bias", {tensor_type::int8, {32}, {}});
  x.weights = wrong;
  BOOST_TEST(compare_tensors(x)->front()
             == "w.safetensors: tensor conv_in.bias is of type I8, not "
                "floating-point");
}

BOOST_AUTO_TEST_CASE(text_encoders_have_either_form_of_names) {
  auto x = part_of("CLIPTextModel", json::parse(test::tiny_text_config()));
  const auto expected = expected_of(x);
  expected_tensors without;
  for (const auto& [name, shape] : expected)
    without.emplace(name.substr(std::string_view{"text_model."}.size()), shape);
  x.weights = shapes_only(without);
  BOOST_TEST(compare_tensors(x)->empty());
  auto with = expected;
  with["text_model.embeddings.position_ids"] = {1, 77};
  with["text_projection.weight"] = {3, 64};
  x.weights = shapes_only(with);
  BOOST_TEST(compare_tensors(x)->empty());
}

BOOST_AUTO_TEST_CASE(an_autoencoder_tiny_is_known) {
  const auto x = expected_of(part_of(
    "AutoencoderTiny", json::parse(R"({"encoder_block_out_channels": [32, 32],
      "decoder_block_out_channels": [32, 32], "num_encoder_blocks": [1, 2],
      "num_decoder_blocks": [2, 1], "latent_channels": 4})")));
  // The layers are conv, block, conv, block, block, conv and conv, act, block,
  // block, resize, conv, block, conv.
  BOOST_TEST(x.contains("encoder.layers.1.conv.4.bias"));
  BOOST_TEST(!x.contains("encoder.layers.2.bias"));
  BOOST_TEST(
    (x.at("encoder.layers.5.weight") == std::vector<int64_t>{4, 32, 3, 3}));
  BOOST_TEST(
    (x.at("decoder.layers.0.weight") == std::vector<int64_t>{32, 4, 3, 3}));
  BOOST_TEST(!x.contains("decoder.layers.1.weight"));
  BOOST_TEST(!x.contains("decoder.layers.4.weight"));
  BOOST_TEST(
    (x.at("decoder.layers.5.weight") == std::vector<int64_t>{32, 32, 3, 3}));
  BOOST_TEST(
    (x.at("decoder.layers.7.weight") == std::vector<int64_t>{3, 32, 3, 3}));
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_refused_with_its_key) {
  const auto unet = [](const std::string& more) {
    return refusal("UNet2DConditionModel",
                   json::parse(test::tiny_unet_config(", " + more)));
  };
  BOOST_TEST(unet(R"("class_embed_type": "projection")")
             == "c.json: class_embed_type is \"projection\", not null");
  BOOST_TEST(unet(R"("mid_block_type": "UNetMidBlock2DSimpleCrossAttn")")
             == "c.json: mid_block_type is \"UNetMidBlock2DSimpleCrossAttn\", "
                "not one of UNetMidBlock2DCrossAttn, UNetMidBlock2D");
  BOOST_TEST(unet(R"("addition_embed_type": "image")")
             == "c.json: addition_embed_type is \"image\", not one of text, "
                "text_time");
  BOOST_TEST(unet(R"("in_channels": 0)")
             == "c.json: in_channels is 0, not a whole number in 1..16384");
  BOOST_TEST(unet(R"("in_channels": "4")").find("in_channels is \"4\"")
             != std::string::npos);
  BOOST_TEST(unet(R"("layers_per_block": [1, 2, 3])").find("or a list of 2")
             != std::string::npos);
  BOOST_TEST(unet(R"("layers_per_block": 16000000)")
             == "c.json: layers_per_block is 16000000, not a whole number in "
                "1..64, or a list of 2");
  BOOST_TEST(unet(R"("layers_per_block": 64,
    "transformer_layers_per_block": 64)")
             == "c.json: its numbers require more than 50000 tensors");
  BOOST_TEST(unet(R"("what_is_this": 1)")
             == "c.json: what_is_this is 1, which is not supported");
  BOOST_TEST(refusal("AutoencoderKL", {{"block_out_channels", nullptr}})
             == "c.json: block_out_channels is null, not a list of 1..8 whole "
                "numbers in 1..65536");
  BOOST_TEST(refusal("VQModel", json::object())
             == "c.json: _class_name: VQModel is not known here");
}

BOOST_AUTO_TEST_CASE(shapes_that_tell_nothing_are_refused_by_name) {
  const auto told = [](const std::string& class_name, expected_tensors x) {
    const auto from = shapes_only(x);
    const auto out = class_name == "unet" ? infer_unet_config(*from, {})
                   : class_name == "vae"
                     ? infer_vae_config(*from, {})
                     : infer_text_config(*from, text_family::clip);
    return out ? std::string{"told"} : out.why().text;
  };
  BOOST_TEST(told("unet", {})
             == "w.safetensors: tensor down_blocks.0.resnets.0.conv1.weight is "
                "missing");
  BOOST_TEST(told("vae", {}).find("encoder.down_blocks.0")
             != std::string::npos);
  auto unet = expected_of(
    part_of("UNet2DConditionModel", json::parse(test::tiny_unet_config())));
  unet["conv_in.weight"] = {32};
  BOOST_TEST(told("unet", unet)
             == "w.safetensors: tensor conv_in.weight has no axis 1, or an "
                "empty one");
  auto text = expected_of(
    part_of("CLIPTextModel", json::parse(test::tiny_text_config())));
  text["text_model.embeddings.token_embedding.weight"] = {50, 65};
  BOOST_TEST(told("text", text).find("of width 65 cannot be split")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
