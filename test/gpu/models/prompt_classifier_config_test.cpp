// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(prompt_classifier_config)

namespace {

const std::vector<std::string> levels{"base@50", "tiny@20"};

/// Returns the family's configuration with one part changed.
std::string changed(const std::string& from, const std::string& to) {
  auto text = prompt_classifier_config_text(levels);
  const auto at = text.find(from);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

void refused(const std::string& text, std::string_view why) {
  const auto x = read_prompt_classifier_config(text, "c/config.json");
  BOOST_REQUIRE_MESSAGE(!x, text);
  BOOST_CHECK(x.why().code == core::ec::bad_config);
  BOOST_TEST(x.why().text == why);
}

} // namespace

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const auto x = read_prompt_classifier_config(
    prompt_classifier_config_text(levels), "c/config.json");
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST(x->levels == levels);
  BOOST_TEST(x->shape.levels == 2);
  const auto family = family_prompt_classifier();
  BOOST_TEST(x->shape.text.layers == family.text.layers);
  BOOST_TEST(x->shape.text.vocab_size == family.text.vocab_size);
  BOOST_TEST(x->shape.text.max_position_embeddings
             == family.text.max_position_embeddings);
}

BOOST_AUTO_TEST_CASE(a_text_encoder_may_have_another_shape) {
  const auto x = read_prompt_classifier_config(
    changed("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 7"), "c");
  BOOST_REQUIRE(x);
  BOOST_TEST(x->shape.text.layers == 7);
  BOOST_TEST(parameters_of(x->shape)
             > parameters_of(family_prompt_classifier()));
}

BOOST_AUTO_TEST_CASE(every_refusal_names_file_and_key) {
  refused("{}", "c/config.json: model_type is missing, not "
                "\"atelier_prompt_classifier\"");
  refused(changed("atelier_prompt_classifier", "clip"),
          "c/config.json: model_type is \"clip\", not "
          "\"atelier_prompt_classifier\"");
  refused(changed("\"base@50\"", "\"tiny@20\""),
          "c/config.json: levels is [\"tiny@20\",\"tiny@20\"], not a list of 1 "
          "to 64 different names");
  refused(changed("\"base@50\"", "50"),
          "c/config.json: levels is [50,\"tiny@20\"], not a list of 1 to 64 "
          "different names");
  refused(changed("\"levels\"", "\"stages\""),
          "c/config.json: levels is missing, not a list of 1 to 64 different "
          "names");
  refused(changed("\"text_config\"", "\"text\""),
          "c/config.json: text_config is missing, not an object");
  refused(changed("\"hidden_size\": 128", "\"hidden_size\": 0"),
          "c/config.json: text_config: hidden_size is 0, not a whole number in "
          "1..1048576");
  refused(changed("\"max_position_embeddings\": 48",
                  "\"max_position_embeddings\": 1"),
          "c/config.json: text_config: max_position_embeddings is 1, not a "
          "whole number in 2..1048576");
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_refused_by_its_file) {
  const auto x = read_prompt_classifier_config("[", "c/config.json");
  BOOST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::bad_config);
  BOOST_TEST(x.why().text.starts_with("c/config.json"), x.why().text);
}

BOOST_AUTO_TEST_SUITE_END()
