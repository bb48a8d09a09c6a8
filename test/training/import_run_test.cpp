// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "gpu/models/made_weights.hpp"
#include <atelier/core/error.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/training/export_model.hpp>
#include <atelier/training/export_run.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/import_run.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;
using core::ec;

namespace {

namespace fs = std::filesystem;

exported_network network(std::string config, const char* class_name) {
  component x;
  x.config = config;
  x.config_file = "config.json";
  x.class_name = class_name;
  auto weights = std::make_shared<test::made_weights>();
  const auto expected = detail::expect_tensors(x);
  BOOST_REQUIRE(expected);
  for (const auto& [name, shape] : *expected)
    weights->add(name, shape);
  return {std::move(config), std::move(weights), {}};
}

struct fixture {
  // The models share files as the shipped ones do: the second uses the first's
  // other networks.
  fixture() {
    auto base = family_export();
    base.unet = network(unet_config_text(*family_member_named("base")),
                        "UNet2DConditionModel");
    base.vae = network(autoencoder_config_text(), "AutoencoderKL");
    base.text_encoder = network(text_encoder_config_text(), "CLIPTextModel");
    base.card = "# The base\n";
    BOOST_REQUIRE(export_model(base, models / "base"));
    auto tiny = family_export();
    tiny.unet = network(unet_config_text(*family_member_named("tiny")),
                        "UNet2DConditionModel");
    tiny.vae = {{}, nullptr, "../base/vae"};
    tiny.text_encoder = {{}, nullptr, "../base/text_encoder"};
    tiny.card = "# The tiny one\n";
    BOOST_REQUIRE(export_model(tiny, models / "tiny"));
    network_export scorer;
    scorer.config = scorer_config_text();
    auto weights = std::make_shared<test::made_weights>();
    weights->add("logit_scale", {1});
    weights->add("visual_projection.weight", {4, 4});
    scorer.weights = std::move(weights);
    scorer.texts = {{"README.md", "# The scorer\n"}};
    BOOST_REQUIRE(export_network(scorer, models / "scorer"));
  }

  std::string text(const fs::path& file) const {
    const auto x = detail::read_text(file, uint64_t{1} << 30);
    BOOST_REQUIRE_MESSAGE(x, file.string());
    return *x;
  }

  test::scratch_folder folder;
  fs::path models = folder.path / "models";
  fs::path run = folder.path / "run";
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(import_run_test, fixture)

BOOST_AUTO_TEST_CASE(a_run_begins_with_the_models_in_single_precision) {
  const auto there = import_run({models, run});
  BOOST_REQUIRE(there);
  const std::vector<std::string> wanted{"vae", "text", "base", "tiny",
                                        "scorer"};
  BOOST_TEST(*there == wanted, boost::test_tools::per_element());
  const auto file =
    safetensors_file::open(run / "tiny" / "weights.safetensors");
  BOOST_REQUIRE(file);
  const auto kernel = (*file)->find("unet.conv_in.weight");
  BOOST_REQUIRE(kernel);
  BOOST_TEST((kernel->type == tensor_type::float32));
  BOOST_TEST((*file)
               ->find("text_encoder.text_model.embeddings.token_embedding"
                      ".weight")
               .has_value());
}

BOOST_AUTO_TEST_CASE(what_was_imported_is_exported_as_it_was) {
  BOOST_REQUIRE(import_run({models, run}));
  const auto to = folder.path / "again";
  BOOST_REQUIRE(export_run({run, to}));
  for (const auto* file :
       {"base/README.md", "base/vae/diffusion_pytorch_model.safetensors",
        "base/unet/diffusion_pytorch_model.safetensors", "tiny/README.md",
        "tiny/unet/diffusion_pytorch_model.safetensors",
        "tiny/text_encoder/model.safetensors", "scorer/README.md",
        "scorer/model.safetensors"})
    BOOST_TEST((text(models / file) == text(to / file)), file);
  BOOST_TEST(fs::is_symlink(to / "tiny" / "vae"));
}

BOOST_AUTO_TEST_CASE(models_that_are_there_are_left_alone) {
  BOOST_REQUIRE(import_run({models, run}));
  const auto written = export_run({run, models});
  BOOST_REQUIRE(written);
  BOOST_TEST(written->empty());
}

BOOST_AUTO_TEST_CASE(what_is_trained_already_stays) {
  fs::create_directories(run / "tiny");
  fs::copy_file(models / "base" / "README.md",
                run / "tiny" / "weights.safetensors");
  const auto there = import_run({models, run});
  BOOST_REQUIRE(there);
  const std::vector<std::string> wanted{"vae", "text", "base", "scorer"};
  BOOST_TEST(*there == wanted, boost::test_tools::per_element());
  BOOST_TEST(text(run / "tiny" / "weights.safetensors") == "# The base\n");
}

BOOST_AUTO_TEST_CASE(a_folder_without_models_is_refused) {
  const auto there = import_run({folder.path / "nowhere", run});
  BOOST_REQUIRE(!there);
  BOOST_TEST((there.why().code == ec::not_found));
  BOOST_TEST(!fs::exists(run));
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_told_by_its_name) {
  fs::resize_file(
    models / "tiny" / "unet" / "diffusion_pytorch_model.safetensors", 100);
  const auto there = import_run({models, run});
  BOOST_REQUIRE(!there);
  BOOST_TEST((there.why().code == ec::bad_payload));
  BOOST_TEST(there.why().text.find("tiny") != std::string::npos);
  BOOST_TEST(!fs::exists(run / "tiny" / "weights.safetensors"));
}

BOOST_AUTO_TEST_SUITE_END()
