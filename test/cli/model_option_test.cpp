// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include "scratch_folder.hpp"
#include <atelier/runtime/cli/model_option.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace atelier;
using runtime::cli::model_choice;
using runtime::cli::read_model_option;

namespace {

/// A model that the settings name, and the variants of it that devices run.
struct configured {
  explicit configured(std::vector<std::string> variants) {
    x.models.push_back({});
    x.models.front().name = "m";
    x.models.front().path = folder.path.string();
    x.devices.front().variants = std::move(variants);
  }

  std::string variants_for(std::optional<uint32_t> steps) const {
    model_choice chosen;
    chosen.model = "m";
    chosen.steps = steps;
    const auto found = read_model_option(chosen, x, {});
    BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.why().text));
    return found->set.back();
  }

  const test::tiny_folder folder;
  config::settings x;
};

} // namespace

BOOST_AUTO_TEST_SUITE(model_option_test)

BOOST_AUTO_TEST_CASE(a_model_runs_the_steps_that_its_device_runs) {
  const configured of{{"other@9", "m@4"}};
  BOOST_TEST(of.variants_for({}) == "devices[0].variants=[\"m@4\"]");
  BOOST_TEST(of.variants_for(2) == "devices[0].variants=[\"m@2\"]");
}

BOOST_AUTO_TEST_CASE(elsewhere_it_runs_those_of_its_kind) {
  const configured of{{"other@9"}};
  BOOST_TEST(of.variants_for({}) == "devices[0].variants=[\"m@50\"]");
}

BOOST_AUTO_TEST_CASE(what_is_no_model_is_told_by_the_options_name) {
  model_choice chosen;
  chosen.model = "nowhere";
  const auto found = read_model_option(chosen, {}, {});
  BOOST_REQUIRE(!found);
  BOOST_TEST((found.why().code == core::ec::not_found));
  BOOST_TEST(found.why().text.find("--model: 'nowhere'") == 0u,
             found.why().text);
}

BOOST_AUTO_TEST_CASE(a_name_in_other_letters_gets_a_suggestion) {
  const configured of{{"other@9", "m@4"}};
  test::scratch_folder data;
  std::filesystem::create_directories(data.path / "models" / "stored");
  const auto told = [&](const char* name) {
    model_choice chosen;
    chosen.model = name;
    const auto found = read_model_option(chosen, of.x, data.path);
    BOOST_REQUIRE(!found);
    BOOST_TEST((found.why().code == core::ec::not_found));
    return found.why().text;
  };
  BOOST_TEST(told("M")
             == "--model: 'M' is not a known model; the nearest is 'm'; "
                "known models: m, other, stored; a folder or file of a model "
                "is also accepted");
  BOOST_TEST(told("OTHER").find("the nearest is 'other'") != std::string::npos);
  BOOST_TEST(told("stord").find("the nearest is 'stored'")
             != std::string::npos);
  BOOST_TEST(told("something").find("nearest") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_is_told_by_the_options_name) {
  const configured of{{"m@4"}};
  model_choice chosen;
  chosen.device = "gpu";
  const auto found = read_model_option(chosen, of.x, {});
  BOOST_REQUIRE(!found);
  BOOST_TEST((found.why().code == core::ec::invalid_argument));
  BOOST_TEST(found.why().text.starts_with("--device: the text \"gpu\" is not"),
             found.why().text);
}

BOOST_AUTO_TEST_CASE(a_kind_of_device_stands_for_its_first_one) {
  const configured of{{"m@4"}};
  for (const std::string kind : {"cpu", "cuda"}) {
    model_choice chosen;
    chosen.device = kind;
    const auto found = read_model_option(chosen, of.x, {});
    BOOST_REQUIRE(found);
    BOOST_TEST(found->set.front() == "devices[0].name=\"" + kind + ":0\"");
  }
}

BOOST_AUTO_TEST_SUITE_END()
