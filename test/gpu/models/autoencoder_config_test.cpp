// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(autoencoder_config)

namespace {

auto read(std::string text, std::string class_name = {}) {
  return read_autoencoder_config(
    {std::move(text), "vae/config.json", std::move(class_name), nullptr, {}});
}

void refused(const std::string& text, std::string_view key,
             std::string_view value, std::string class_name = {}) {
  const auto x = read(text, std::move(class_name));
  BOOST_REQUIRE_MESSAGE(!x, text);
  BOOST_CHECK(x.why().code == core::ec::bad_config);
  for (const auto part : {std::string_view{"vae/config.json"}, key, value})
    BOOST_CHECK_MESSAGE(x.why().text.find(part) != std::string::npos,
                        x.why().text + " lacks " + std::string{part});
}

} // namespace

BOOST_AUTO_TEST_CASE(what_a_file_leaves_out_is_the_default) {
  const auto x = read("{}");
  BOOST_REQUIRE(x);
  BOOST_CHECK(x->kind == autoencoder_kind::kl);
  BOOST_TEST(x->scaling_factor == 0.18215);
  BOOST_TEST(x->shift_factor == 0.0);
  BOOST_TEST(!x->force_upcast);
  BOOST_TEST(x->factor() == 1u);
}

BOOST_AUTO_TEST_CASE(stable_diffusion_1_is_read) {
  const auto x = read(R"({
    "_class_name": "AutoencoderKL", "_diffusers_version": "0.6.0",
    "_use_default_values": ["scaling_factor"], "act_fn": "silu",
    "block_out_channels": [128, 256, 512, 512],
    "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D",
                         "DownEncoderBlock2D", "DownEncoderBlock2D"],
    "in_channels": 3, "latent_channels": 4, "layers_per_block": 2,
    "norm_num_groups": 32, "out_channels": 3, "sample_size": 512,
    "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D",
                       "UpDecoderBlock2D", "UpDecoderBlock2D"]})");
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST(x->factor() == 8u);
  BOOST_TEST(x->layers_per_block == 2);
  BOOST_TEST(x->sample_size == 512);
}

BOOST_AUTO_TEST_CASE(scaling_is_read_in_all_its_forms) {
  const auto x = read(R"({"shift_factor": 0.1159, "scaling_factor": 0.3611,
    "latents_mean": null, "latents_std": null})");
  BOOST_REQUIRE(x);
  BOOST_TEST(x->shift_factor == 0.1159);
  const auto y = read(R"({"latents_mean": [1, -2.5, 0, 3],
    "latents_std": [1, 2, 3, 4], "shift_factor": null})");
  BOOST_REQUIRE(y);
  BOOST_TEST(y->latents_mean.at(1) == -2.5);
  refused(R"({"latents_mean": [1, 2, 3, 4]})", "latents_std", "missing");
  refused(R"({"latents_mean": [1, 2], "latents_std": [1, 2]})", "latents_mean",
          "[1,2]");
  refused(R"({"latents_mean": [1, 2, 3, 4], "latents_std": [1, 0, 1, 1]})",
          "latents_std", "[1,0,1,1]");
  refused(R"({"latents_mean": [1, 2, 3, 4], "latents_std": [1, 1, 1, 1],
              "shift_factor": 2})",
          "shift_factor", "2");
  refused(R"({"scaling_factor": 0})", "scaling_factor", "0");
  refused(R"({"scaling_factor": "x"})", "scaling_factor", "x");
}

BOOST_AUTO_TEST_CASE(a_tiny_one_is_read) {
  const auto x = read(R"({"_class_name": "AutoencoderTiny",
    "act_fn": "relu", "block_out_channels": [32, 32],
    "decoder_block_out_channels": [32, 32],
    "encoder_block_out_channels": [16, 16], "force_upcast": false,
    "in_channels": 3, "latent_channels": 4, "latent_magnitude": 3,
    "latent_shift": 0.5, "num_decoder_blocks": [3, 1],
    "num_encoder_blocks": [1, 3], "out_channels": 3, "scaling_factor": 1.0,
    "shift_factor": 0.0, "upsample_fn": "nearest",
    "upsampling_scaling_factor": 2})");
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_CHECK(x->kind == autoencoder_kind::tiny);
  BOOST_TEST(x->encoder_channels == 16);
  BOOST_TEST(x->decoder_channels == 32);
  BOOST_TEST(x->factor() == 2u);
  const std::string tiny = "AutoencoderTiny";
  BOOST_TEST(read("{}", tiny)->factor() == 8u);
  refused(R"({"upsample_fn": "bilinear"})", "upsample_fn", "bilinear", tiny);
  refused(R"({"upsampling_scaling_factor": 4})", "upsampling_scaling_factor",
          "4", tiny);
  refused(R"({"encoder_block_out_channels": [64, 64, 32, 64]})",
          "encoder_block_out_channels", "[64,64,32,64]", tiny);
  refused(R"({"num_decoder_blocks": [3, 3, 1]})", "decoder_block_out_channels",
          "list of 3", tiny);
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_is_refused_by_key) {
  refused(R"({"in_channels": 4})", "in_channels", "4");
  refused(R"({"out_channels": 1})", "out_channels", "1");
  refused(R"({"act_fn": "prelu"})", "act_fn", "prelu");
  refused(R"({"down_block_types": ["AttnDownEncoderBlock2D"]})",
          "down_block_types", "AttnDownEncoderBlock2D");
  refused(R"({"up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D"]})",
          "up_block_types", "which is 1");
  refused(R"({"norm_num_groups": 30})", "norm_num_groups", "30");
  refused(R"({"block_out_channels": []})", "block_out_channels", "[]");
  refused(R"({"block_out_channels": [64, 0.5]})", "block_out_channels", "0.5");
  refused(R"({"layers_per_block": true})", "layers_per_block", "true");
  refused(R"({"use_quant_conv": 1})", "use_quant_conv", "1");
  refused(R"({"sample_size": []})", "sample_size", "[]");
  refused(R"({"norm_type": "spatial"})", "norm_type", "spatial");
  refused("{}", "class", "VQModel", "VQModel");
  refused(R"({"_class_name": "VQModel"})", "_class_name", "VQModel");
}

BOOST_AUTO_TEST_CASE(a_tile_has_one_side_or_two) {
  BOOST_TEST(read(R"({"sample_size": [256, 128]})")->sample_size == 256);
  refused(R"({"sample_size": 0})", "sample_size", "0");
}

BOOST_AUTO_TEST_SUITE_END()
