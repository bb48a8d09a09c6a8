// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_vision_config.hpp>
#include <atelier/gpu/models/clip/image_preparation.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(image_preparation_test)

namespace {

auto read(const std::string& text, uint32_t side = 224) {
  return read_image_preparation(text, "p.json", side);
}

void refused(const std::string& text, std::string_view part,
             uint32_t side = 224) {
  const auto x = read(text, side);
  BOOST_TEST_REQUIRE(!x, text);
  BOOST_TEST((x.why().code == core::ec::bad_config));
  for (const auto each : {std::string_view{"p.json: "}, part})
    BOOST_TEST(x.why().text.find(each) != std::string::npos,
               x.why().text << " lacks " << each);
}

auto read_tower(std::string text) {
  return read_clip_vision_config({std::move(text), "c.json", {}, nullptr, {}});
}

void tower_refused(const std::string& text, const std::string& part) {
  const auto x = read_tower(text);
  BOOST_TEST_REQUIRE(!x, text);
  BOOST_TEST(x.why().text.find("c.json: " + part) == 0u, x.why().text);
}

/// An image whose pixels differ in each channel.
image::bitmap striped(core::extent px) {
  image::bitmap out{px, 3, {}};
  for (size_t i = 0; i < px.pixels(); ++i)
    for (const size_t value : {i, 2 * i, 3 * i + 7})
      out.bytes.push_back(static_cast<uint8_t>(value));
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_a_file_leaves_out_is_the_default) {
  const auto x = read("{}");
  BOOST_REQUIRE(x);
  BOOST_TEST(x->shortest.value() == 224u);
  BOOST_TEST((x->filter == image::scaling_filter::bicubic));
  BOOST_TEST(x->mean[0] == 0.48145466);
  BOOST_TEST(x->deviation[2] == 0.27577711);
}

BOOST_AUTO_TEST_CASE(the_files_of_several_versions_are_read) {
  // CLIPFeatureExtractor.
  auto x = read(R"({"crop_size": 32, "do_center_crop": true,
    "do_normalize": true, "do_resize": true, "size": 40, "resample": 2,
    "feature_extractor_type": "CLIPFeatureExtractor",
    "image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.6, 0.7]})",
                32);
  BOOST_TEST_REQUIRE(bool{x});
  BOOST_TEST(x->shortest.value() == 40u);
  BOOST_TEST((x->filter == image::scaling_filter::bilinear));
  BOOST_TEST(x->mean[2] == 0.3);
  // CLIPImageProcessor.
  x = read(R"({"crop_size": {"height": 32, "width": 32}, "resample": 1,
    "do_rescale": true, "rescale_factor": 0.5, "do_normalize": false,
    "image_processor_type": "CLIPImageProcessor", "do_convert_rgb": true,
    "size": {"shortest_edge": 33}, "_valid_processor_keys": ["images"]})",
           32);
  BOOST_TEST_REQUIRE(bool{x});
  BOOST_TEST(x->shortest.value() == 33u);
  BOOST_TEST((x->filter == image::scaling_filter::lanczos));
  BOOST_TEST(x->factor == 0.5);
  BOOST_TEST(x->deviation[0] == 1);
  x =
    read(R"({"do_center_crop": false, "size": {"height": 8, "width": 8}})", 8);
  BOOST_TEST_REQUIRE(bool{x});
  BOOST_TEST(!x->shortest.has_value());
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_is_refused_by_its_key) {
  refused("[]", "");
  refused(R"({"do_resize": false})", "do_resize is false, not true");
  refused(R"({"do_rescale": false})", "do_rescale is false, not true");
  refused(R"({"resample": 0})", "resample is 0");
  refused(R"({"size": {"longest_edge": 3}})", "size is ");
  refused(R"({"size": 0})", "size is 0");
  refused(R"({"size": {"height": 224, "width": 225}})", "size is ");
  refused(R"({"size": 200})", "size is 200, not at least 224");
  refused(R"({"crop_size": 200})",
          "crop_size is 200, not 224, the image_size of the tower");
  refused("{}", "crop_size is missing, not 32", 32);
  refused(R"({"do_center_crop": false})", "do_center_crop is false");
  refused(R"({"image_mean": [0.5]})", "image_mean is ");
  refused(R"({"image_std": [0.5, 0, 0.5]})", "image_std is ");
  refused(R"({"image_std": "none"})", "image_std is ");
  refused(R"({"rescale_factor": -1})", "rescale_factor is -1");
  refused(R"({"do_pad": true})", "do_pad is true, which is not supported");
}

BOOST_AUTO_TEST_CASE(an_image_of_the_towers_size_is_only_shifted_and_divided) {
  const auto by = read(R"({"do_center_crop": false,
    "size": {"height": 4, "width": 4}, "image_mean": [0.5, 0.25, 0],
    "image_std": [0.5, 1, 2]})",
                       4);
  BOOST_TEST_REQUIRE(bool{by});
  const auto from = striped({4, 4});
  const auto made = prepared(*by, from.view());
  BOOST_TEST_REQUIRE(bool{made});
  BOOST_TEST_REQUIRE(made->size() == 48u);
  for (size_t i = 0; i < 16; ++i) {
    const auto value = [&](size_t c) { return from.bytes[3 * i + c] / 255.0; };
    BOOST_TEST(std::abs((*made)[i] - (value(0) - 0.5) / 0.5) < 1e-6);
    BOOST_TEST(std::abs((*made)[16 + i] - (value(1) - 0.25)) < 1e-6);
    BOOST_TEST(std::abs((*made)[32 + i] - value(2) / 2) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(the_centre_of_a_wide_image_is_cut_out) {
  const auto by = read(R"({"size": 4, "crop_size": 4, "do_normalize": false,
    "rescale_factor": 1})",
                       4);
  BOOST_TEST_REQUIRE(bool{by});
  const auto from = striped({9, 4});
  const auto made = prepared(*by, from.view());
  BOOST_TEST_REQUIRE(bool{made});
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 4; ++x)
      BOOST_TEST((*made)[4 * y + x] == from.bytes[3 * (9 * y + 2 + x)]);
}

BOOST_AUTO_TEST_CASE(an_image_that_does_not_fit_is_refused) {
  const auto by = read("{}");
  BOOST_TEST_REQUIRE(bool{by});
  auto from = striped({8, 8});
  from.bytes.pop_back();
  const auto cut = prepared(*by, from.view());
  BOOST_TEST_REQUIRE(!cut);
  BOOST_TEST((cut.why().code == core::ec::invalid_argument));
  BOOST_TEST(!prepared(*by, {}));
  // Its scaled image would have 224 times 1.8 million pixels.
  const auto narrow = prepared(*by, striped({65'536, 8}).view());
  BOOST_TEST_REQUIRE(!narrow);
  BOOST_TEST((narrow.why().code == core::ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(a_tower_is_read_from_the_file_of_a_whole_model) {
  auto x = read_tower(R"({"model_type": "clip", "vision_config": {}})");
  BOOST_TEST_REQUIRE(bool{x});
  BOOST_TEST(x->hidden_size == 768);
  BOOST_TEST(x->patches() == 49);
  BOOST_TEST(x->projection_dim == 512);
  BOOST_TEST((x->activation == clip_activation::quick_gelu));
  x = read_tower(R"({"model_type": "clip", "projection_dim": 6,
    "text_config": {"hidden_size": 3}, "vision_config": {
      "model_type": "clip_vision_model", "hidden_size": 10,
      "num_attention_heads": 5, "image_size": 17, "patch_size": 4,
      "projection_dim": 9, "hidden_act": "gelu", "dropout": 0.5}})");
  BOOST_TEST_REQUIRE(bool{x});
  // The last pixels make no patch.
  BOOST_TEST(x->patches() == 16);
  // A whole model projects to its own length.
  BOOST_TEST(x->projection_dim == 6);
}

BOOST_AUTO_TEST_CASE(a_tower_that_is_not_supported_is_refused_by_its_key) {
  tower_refused("{}", "vision_config is missing");
  tower_refused(R"({"model_type": "clip_text_model"})", "model_type is ");
  const auto with = [](const std::string& field) {
    return R"({"vision_config": {)" + field + "}}";
  };
  tower_refused(with(R"("num_channels": 1)"),
                "vision_config.num_channels is 1, not 3");
  tower_refused(with(R"("hidden_act": "relu")"),
                "vision_config.hidden_act is ");
  tower_refused(with(R"("num_attention_heads": 5)"),
                "vision_config.num_attention_heads is 5");
  tower_refused(with(R"("image_size": 8)"), "vision_config.patch_size is ");
  tower_refused(with(R"("pools": 2)"),
                "vision_config.pools is 2, which is not supported");
}

BOOST_AUTO_TEST_SUITE_END()
