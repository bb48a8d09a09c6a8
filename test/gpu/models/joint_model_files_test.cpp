// SPDX-License-Identifier: Apache-2.0
// A model of another family than Stable Diffusion's, as a folder.
#include "tiny_model.hpp"
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/model_import.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/mmdit/mmdit_family.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace atelier;

namespace {

struct fixture : test::tiny_joint_folder {
  std::string refusal(core::ec code) const {
    auto files = gpu::open_model(path, {});
    auto why = files ? core::error{} : files.why();
    if (files) {
      const auto facts = gpu::facts_of(*files);
      BOOST_REQUIRE(!facts);
      why = facts.why();
    }
    BOOST_TEST((why.code == code), why.text);
    return why.text;
  }

  bool told(const std::string& text, const std::string& part) const {
    return text.find(part) != std::string::npos;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(joint_model_files, fixture)

BOOST_AUTO_TEST_CASE(a_folder_is_known_by_its_pipeline) {
  const auto x = gpu::open_model(path, {});
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST((x->family == &gpu::mmdit_family));
  BOOST_TEST((x->pipeline == &gpu::stable_diffusion_3));
  BOOST_TEST(x->denoiser.class_name == "SD3Transformer2DModel");
  const auto facts = gpu::facts_of(*x);
  BOOST_REQUIRE_MESSAGE(facts, (facts ? "" : facts.why().text));
  BOOST_TEST((facts->native_px == core::extent{16, 16}));
  BOOST_TEST(facts->latent_channels == 16u);
  BOOST_TEST(facts->guidance == 7.f);
  BOOST_TEST(facts->steps == 28u);
  BOOST_TEST((facts->schedule.sampler == core::sampler::flow_match_euler));
}

BOOST_AUTO_TEST_CASE(a_sound_folder_has_no_findings) {
  const auto x = gpu::check_model(path, {});
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST(x->sound());
  for (const auto& finding : x->findings)
    BOOST_TEST(finding.text == "");
}

BOOST_AUTO_TEST_CASE(a_third_text_encoder_is_refused_by_name) {
  const auto index = read("model_index.json");
  auto with = index;
  const std::string none = "\"text_encoder_3\": [null, null]";
  with.replace(with.find(none), none.size(),
               "\"text_encoder_3\": [\"transformers\", "
               "\"T5EncoderModel\"]");
  write_at("model_index.json", with);
  const auto why = refusal(core::ec::bad_payload);
  BOOST_TEST(told(why, "text_encoder_3: a part (T5EncoderModel)"), why);
}

BOOST_AUTO_TEST_CASE(parts_that_do_not_fit_each_other_are_named) {
  const auto config = read("transformer/config.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = config;
    text.replace(text.find(from), from.size(), to);
    write_at("transformer/config.json", text);
  };
  with("\"joint_attention_dim\": 136", "\"joint_attention_dim\": 120");
  auto why = refusal(core::ec::bad_config);
  BOOST_TEST(told(why, "joint_attention_dim 120"), why);
  BOOST_TEST(told(why, "128"), why);
  with("\"pooled_projection_dim\": 48", "\"pooled_projection_dim\": 50");
  why = refusal(core::ec::bad_config);
  BOOST_TEST(told(why, "pooled_projection_dim 50"), why);
  with("\"in_channels\": 16, \"out_channels\": 16",
       "\"in_channels\": 4, \"out_channels\": 4");
  why = refusal(core::ec::bad_config);
  BOOST_TEST(told(why, "in_channels 4"), why);
}

BOOST_AUTO_TEST_CASE(a_missing_denoiser_has_its_folders_name) {
  std::filesystem::remove_all(path / "transformer");
  const auto x = gpu::open_model(path, {});
  BOOST_REQUIRE(!x);
  BOOST_TEST(told(x.why().text, ": transformer missing"), x.why().text);
}

BOOST_AUTO_TEST_CASE(a_denoiser_alone_takes_the_other_parts_from_a_model) {
  test::scratch_folder lone;
  lone.write("config.json", test::tiny_mmdit_config());
  std::filesystem::copy_file(path / "transformer"
                               / "diffusion_pytorch_model.safetensors",
                             lone.path / "diffusion_pytorch_model.safetensors");
  gpu::model_file_options options;
  options.parts_from = path;
  const auto x = gpu::open_model(lone.path, options);
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST((x->pipeline == &gpu::stable_diffusion_3));
  const test::tiny_folder other;
  options.parts_from = other.path;
  const auto unlike = gpu::open_model(lone.path, options);
  BOOST_REQUIRE(!unlike);
  BOOST_TEST(told(unlike.why().text, "stable_diffusion_3"), unlike.why().text);
}

BOOST_AUTO_TEST_CASE(an_import_is_opened_as_what_it_was) {
  const test::scratch_folder to;
  const auto made = gpu::import_model(path, to.path / "copy", {});
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.why().text));
  const auto x = gpu::open_model(to.path / "copy", {});
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  BOOST_TEST((x->pipeline == &gpu::stable_diffusion_3));
  const auto index =
    nlohmann::json::parse(std::ifstream{to.path / "copy" / "model_index.json"});
  BOOST_TEST(index["_class_name"] == "StableDiffusion3Pipeline");
  BOOST_TEST(index["text_encoder_3"].dump() == "[null,null]");
  BOOST_TEST(!index.contains("unet"));
  BOOST_TEST(!index.contains("safety_checker"));
}

BOOST_AUTO_TEST_SUITE_END()
