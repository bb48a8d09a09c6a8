// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "gpu/models/made_weights.hpp"
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/model_import.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>
#include <atelier/gpu/samplers/schedule.hpp>
#include <atelier/training/export_model.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/model_card.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace atelier;
using namespace atelier::gpu;
using core::ec;

namespace {

namespace fs = std::filesystem;

std::shared_ptr<test::made_weights> weights_for(const std::string& config,
                                                const char* class_name) {
  component x;
  x.config = config;
  x.config_file = "config.json";
  x.class_name = class_name;
  auto out = std::make_shared<test::made_weights>();
  const auto expected = detail::expect_tensors(x);
  if (!expected)
    BOOST_FAIL(core::to_string(expected.why()));
  for (const auto& [name, shape] : *expected)
    out->add(name, shape);
  return out;
}

struct fixture {
  fixture() {
    const auto set = [](exported_network& x, std::string config,
                        const char* class_name) {
      x.config = std::move(config);
      x.weights = weights_for(x.config, class_name);
    };
    set(what.unet, unet_config_text(family_member::tiny),
        "UNet2DConditionModel");
    set(what.vae, autoencoder_config_text(), "AutoencoderKL");
    set(what.text_encoder, text_encoder_config_text(), "CLIPTextModel");
    set(what.preview.emplace(), tiny_autoencoder_config_text(),
        "AutoencoderTiny");
    what.card = "# A model\n";
  }

  void must(const core::result<void>& x) const {
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : core::to_string(x.why())));
  }

  ec refused() const {
    const auto x = export_model(what, to);
    return x ? ec::none : x.why().code;
  }

  test::scratch_folder folder;
  fs::path to = folder.path / "tiny";
  model_export what = family_export();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(export_model_test, fixture)

BOOST_AUTO_TEST_CASE(an_export_is_a_model_without_fault) {
  must(export_model(what, to));
  const auto model = open_model(to, {});
  BOOST_REQUIRE(model);
  BOOST_TEST((model->pipeline == &stable_diffusion));
  const auto notes = model->words.notes_on("a red elephant");
  BOOST_REQUIRE(notes.size() == 1u);
  BOOST_TEST(notes[0].text.starts_with(
    "the model does not know 'elephant'; it knows: a an the"));
  BOOST_TEST((model->traits == family_traits(family_member::base)));
  BOOST_TEST((model->denoiser.weights->find("conv_in.weight")->type
              == tensor_type::float16));
  BOOST_REQUIRE(model->preview);
  BOOST_TEST(model->preview->class_name == "AutoencoderTiny");
  BOOST_TEST(static_cast<bool>(facts_of(*model)));
  const auto checked = check_model(to, {});
  BOOST_REQUIRE(checked);
  BOOST_TEST(checked->sound());
  for (const auto& x : checked->findings)
    BOOST_TEST_MESSAGE(x.text);
  must(check_sums(to));
  BOOST_TEST((folder.names() == std::set<std::string>{"tiny"}));
}

BOOST_AUTO_TEST_CASE(an_export_survives_an_import) {
  must(export_model(what, to));
  must(import_model(to, folder.path / "again", {}));
  const auto model = open_model(folder.path / "again", {});
  BOOST_REQUIRE(model);
  BOOST_TEST(model->words.text() == what.words.text());
  BOOST_TEST(model->preview.has_value());
}

BOOST_AUTO_TEST_CASE(a_shared_part_is_a_link_to_where_it_lies) {
  must(export_model(what, to));
  what.vae.weights = nullptr;
  what.vae.same_as = "../tiny/vae";
  to = folder.path / "small";
  must(export_model(what, to));
  BOOST_TEST(fs::is_symlink(to / "vae"));
  const auto model = open_model(to, {});
  BOOST_REQUIRE(model);
  BOOST_TEST(model->vae.weights != nullptr);
  must(check_sums(to));
}

BOOST_AUTO_TEST_CASE(a_preview_goes_with_its_own_autoencoder_alone) {
  must(export_model(what, to));
  const auto other = folder.path / "other";
  must(export_model(what, other));
  model_file_options options;
  options.vae = other / "vae";
  const auto replaced = open_model(to, options);
  BOOST_REQUIRE(replaced);
  BOOST_TEST(!replaced->preview);
  auto model = *open_model(to, {});
  auto config = nlohmann::json::parse(model.preview->config);
  config["latent_channels"] = 8;
  model.preview->config = config.dump();
  const auto facts = facts_of(model);
  BOOST_REQUIRE(!facts);
  BOOST_TEST(facts.why().text.find("vae_preview") != std::string::npos);
  fs::remove(to / "vae_preview" / "diffusion_pytorch_model.safetensors");
  BOOST_TEST((open_model(to, {}).why().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(a_changed_file_is_told_by_name) {
  must(export_model(what, to));
  std::ofstream{to / "known_words.txt", std::ios::app} << "elephant\n";
  const auto found = check_sums(to);
  BOOST_REQUIRE(!found);
  BOOST_TEST((found.why().code == ec::bad_payload));
  BOOST_TEST(found.why().text.find("known_words.txt") != std::string::npos);
  std::ofstream{to / "SHA256SUMS"} << std::string(64, '0') << "  ../x\n";
  BOOST_TEST((check_sums(to).why().code == ec::bad_payload));
  fs::remove(to / "SHA256SUMS");
  BOOST_TEST((check_sums(to).why().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_together_is_not_written) {
  auto& weights = const_cast<test::made_weights&>(
    dynamic_cast<const test::made_weights&>(*what.unet.weights));
  weights.add("conv_in.extra", {1});
  BOOST_TEST((refused() == ec::bad_payload));
  weights.erase("conv_in.extra");
  weights.erase("conv_in.weight");
  BOOST_TEST((refused() == ec::bad_payload));
  what.unet.weights = nullptr;
  BOOST_TEST((refused() == ec::invalid_argument));
  BOOST_TEST(folder.names().empty());
}

BOOST_AUTO_TEST_CASE(only_a_model_is_replaced_and_only_if_asked) {
  must(export_model(what, to));
  BOOST_TEST((refused() == ec::invalid_argument));
  what.replace = true;
  must(export_model(what, to));
  to = folder.path / "papers";
  fs::create_directory(to);
  std::ofstream{to / "letter"} << "dear";
  BOOST_TEST((refused() == ec::invalid_argument));
  BOOST_TEST(fs::exists(to / "letter"));
}

BOOST_AUTO_TEST_CASE(a_network_alone_is_exported_with_its_texts) {
  network_export alone;
  alone.config = "{}\n";
  auto weights = std::make_shared<test::made_weights>();
  weights->add("out.weight", {2, 3});
  alone.weights = weights;
  alone.texts = {{"README.md", "# A judge\n"}};
  must(export_network(alone, to));
  must(check_sums(to));
  BOOST_TEST((export_network(alone, to).why().code == ec::invalid_argument));
  alone.replace = true;
  alone.as = tensor_type::int8;
  BOOST_TEST((export_network(alone, to).why().code == ec::invalid_argument));
  alone.as = tensor_type::float32;
  must(export_network(alone, to));
  const auto file = safetensors_file::open(to / "model.safetensors");
  BOOST_REQUIRE(file);
  BOOST_TEST(((*file)->find("out.weight")->type == tensor_type::float32));
}

BOOST_AUTO_TEST_CASE(a_card_says_what_there_is_to_say) {
  model_card card;
  card.name = "tiny";
  card.seed = 7;
  card.minutes = 12.34;
  BOOST_TEST(to_markdown(card)
             == "---\nlicense: apache-2.0\nlibrary_name: diffusers\n"
                "pipeline_tag: text-to-image\n---\n\n# tiny\n\n## Training\n\n"
                "Seed 7, 12.3 minutes.\n");
  card.library = "transformers";
  card.task.clear();
  BOOST_TEST(to_markdown(card).starts_with(
    "---\nlicense: apache-2.0\nlibrary_name: transformers\n---\n"));
  card.figures = {{"right|left", "90 %"}};
  card.limits = "Draws no elephants.";
  BOOST_TEST(to_markdown(card).ends_with(
    "| right\\|left | 90 % |\n\n## Limits\n\nDraws no elephants.\n"));
}

BOOST_AUTO_TEST_CASE(members_of_the_family_have_names_and_valid_configs) {
  for (const auto x : {family_member::base, family_member::small,
                       family_member::tiny, family_member::turbo}) {
    BOOST_TEST((family_member_named(to_string(x)) == x));
    const auto config = family_unet(x);
    BOOST_TEST((config.addition == unet_addition::text));
    BOOST_TEST(config.cross_attention_dim == family_text_width);
    BOOST_TEST(config.sample_size.value() == family_latent_side);
  }
  BOOST_TEST(!family_member_named("huge"));
  BOOST_TEST(family_autoencoder().factor() * family_latent_side == family_side);
  BOOST_TEST(family_tiny_autoencoder().factor() == 8);
  const auto text = family_text_encoder();
  BOOST_TEST(text.max_position_embeddings == family_tokens);
  BOOST_TEST((text.pooling == clip_pooling::first_end));
  const auto schedule = parse_scheduler(scheduler_config_text(), "here");
  BOOST_REQUIRE(schedule);
}

BOOST_AUTO_TEST_SUITE_END()
