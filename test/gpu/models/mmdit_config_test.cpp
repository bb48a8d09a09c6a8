// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <string>

using namespace atelier;
using gpu::parse_mmdit_config;

namespace {

std::string refusal(const std::string& fields) {
  const auto parsed =
    parse_mmdit_config("{" + fields + "}", "transformer/config.json");
  BOOST_REQUIRE_MESSAGE(!parsed, fields);
  BOOST_TEST((parsed.why().code == core::ec::bad_config));
  return parsed.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(mmdit_config_test)

BOOST_AUTO_TEST_CASE(an_empty_config_is_the_published_medium_model) {
  const auto x = parse_mmdit_config("{}", "config.json");
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST(x->sample_size == 128);
  BOOST_TEST(x->patch_size == 2);
  BOOST_TEST(x->channels == 16);
  BOOST_TEST(x->layers == 18);
  BOOST_TEST(x->width() == 1152);
  BOOST_TEST(x->text_width == 4096);
  BOOST_TEST(x->pooled_width == 2048);
  BOOST_TEST(x->most_side == 96);
}

BOOST_AUTO_TEST_CASE(what_no_block_does_is_refused_by_its_key) {
  for (const auto* field :
       {"\"qk_norm\": \"rms_norm\"", "\"dual_attention_layers\": [0, 1]",
        "\"out_channels\": 4", "\"caption_projection_dim\": 64",
        "\"sample_size\": 127", "\"sample_size\": 256", "\"patch_size\": 0",
        "\"num_layers\": 0", "\"in_channels\": \"16\"", "\"surprise\": 1",
        "\"_class_name\": \"UNet2DConditionModel\""}) {
    const std::string text = field;
    const auto key = text.substr(1, text.find('"', 1) - 1);
    const auto why = refusal(text);
    BOOST_TEST(why.starts_with("transformer/config.json: " + key), why);
  }
  BOOST_TEST(!refusal("\"in_channels\": 8").empty());
}

BOOST_AUTO_TEST_SUITE_END()
