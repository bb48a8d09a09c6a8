// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_model.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

using namespace atelier;
using namespace atelier::gpu;

namespace {

constexpr std::array<std::string_view, 1> own_classes{"FamiliesTestPipeline"};
const model_pipeline own_pipeline{.name = "families_test",
                                  .classes = own_classes,
                                  .written_index = "{}",
                                  .guidance = 3};
constexpr std::array own_pipelines{&own_pipeline};

bool facts_throw = false;

core::result<denoiser_facts> own_facts(const model_files& x) {
  if (facts_throw)
    throw std::runtime_error{"no facts"};
  return unet_family.facts(x);
}

/// The family of the U-Net under another pipeline's name.
const family own = [] {
  auto x = unet_family;
  x.name = "families_test";
  x.pipelines = own_pipelines;
  x.facts = own_facts;
  x.settle = nullptr;
  x.knows_file = nullptr;
  x.open_file = nullptr;
  return x;
}();

std::string refusal_of(const family* x) {
  const auto added = add_family(x);
  return added ? "" : added.why().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(families_test)

BOOST_AUTO_TEST_CASE(what_cannot_be_a_family_is_refused) {
  BOOST_TEST(refusal_of(nullptr) == "a family that is null");
  const auto refused = [](auto change) {
    auto x = own;
    change(x);
    return refusal_of(&x);
  };
  BOOST_TEST(refused([](auto& x) { x.name = {}; }) == "family '' has no name");
  BOOST_TEST(refused([](auto& x) { x.pipelines = {}; }).find("no pipelines")
             != std::string::npos);
  BOOST_TEST(refused([](auto& x) { x.expect = nullptr; }).find("expect")
             != std::string::npos);
  BOOST_TEST(refused([](auto& x) { x.denoiser_class = {}; }).find("class")
             != std::string::npos);
  BOOST_TEST(refused([](auto& x) { x.name = "unet"; })
             == "family 'unet' already exists");
  BOOST_TEST(
    refused([](auto& x) { x.pipelines = unet_family.pipelines; })
    == "family 'families_test': the pipeline StableDiffusionPipeline is of the "
       "family 'unet'");
}

BOOST_AUTO_TEST_CASE(folders_of_an_added_family_are_models) {
  const test::tiny_folder at;
  auto index = at.read("model_index.json");
  const std::string theirs = "StableDiffusionPipeline";
  index.replace(index.find(theirs), theirs.size(), own_classes[0]);
  at.write_at("model_index.json", index);
  const auto before = open_model(at.path, {});
  BOOST_TEST_REQUIRE(!before.operator bool());
  BOOST_TEST(before.why().text.find("'FamiliesTestPipeline' is not supported")
             != std::string::npos);
  const auto count = families().size();
  BOOST_TEST(refusal_of(&own) == "");
  // A second registration changes nothing.
  BOOST_TEST(refusal_of(&own) == "");
  BOOST_TEST(families().size() == count + 1);
  BOOST_TEST(families().back() == &own);
  const auto files = open_model(at.path, {});
  BOOST_TEST_REQUIRE(files.operator bool());
  BOOST_TEST(files->family == &own);
  const auto facts = facts_of(*files);
  BOOST_TEST_REQUIRE(facts.operator bool());
  BOOST_TEST(facts->guidance == 3);
  facts_throw = true;
  const auto thrown = facts_of(*files);
  facts_throw = false;
  BOOST_TEST_REQUIRE(!thrown.operator bool());
  BOOST_TEST(thrown.why().text
             == "family 'families_test' threw in facts: no facts");
}

BOOST_AUTO_TEST_SUITE_END()
