// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/runtime/kept_scope.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>

using namespace atelier;

namespace {

namespace fs = std::filesystem;

std::string scope(const config::settings& x) {
  const auto digests = runtime::digests_of_models(x);
  BOOST_REQUIRE_MESSAGE(digests, (digests ? "" : digests.why().text));
  const auto made = runtime::kept_scope(x, *digests);
  BOOST_TEST(made.size() == 64u);
  return made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(kept_scope_test)

BOOST_AUTO_TEST_CASE(other_variants_have_another_scope) {
  config::settings x;
  x.devices.resize(1);
  x.devices[0].variants = {"a@2", "b@1"};
  const auto before = scope(x);
  BOOST_TEST(scope(x) == before);
  auto other = x;
  other.devices[0].variants = {"b@1", "a@2"};
  BOOST_TEST(scope(other) != before);
  other.devices[0].variants = {"a@2"};
  BOOST_TEST(scope(other) != before);
  other = x;
  other.devices[0].executor = "theirs";
  BOOST_TEST(scope(other) != before);
  // Another device of the same kind draws the same.
  x.devices.push_back(x.devices[0]);
  BOOST_TEST(scope(x) == before);
}

BOOST_AUTO_TEST_CASE(other_sources_that_draw_have_another_scope) {
  config::settings x;
  x.devices.resize(1);
  x.devices[0].variants = {"a@2"};
  BOOST_TEST(runtime::drawing_sources().size() == 64u);
  BOOST_TEST(runtime::kept_scope(x, {}, runtime::drawing_sources())
             == scope(x));
  BOOST_TEST(runtime::kept_scope(x, {}, std::string(64, '0')) != scope(x));
}

BOOST_AUTO_TEST_CASE(other_weights_of_a_model_have_another_scope) {
  const test::scratch_folder folder;
  const auto model = folder.path / "base";
  fs::copy(fs::path{ATELIER_SOURCE_DIR} / "models" / "base", model,
           fs::copy_options::recursive);
  config::settings x;
  x.models.resize(1);
  x.models[0].name = "base";
  x.models[0].path = model.string();
  x.devices.resize(1);
  x.devices[0].executor = "torch";
  x.devices[0].variants = {"base@4"};
  const auto before = scope(x);
  const auto weights = model / "unet" / "diffusion_pytorch_model.safetensors";
  const auto date = fs::last_write_time(weights);
  // Neither a date nor a place matters.
  fs::last_write_time(weights, date + std::chrono::seconds{1});
  fs::rename(model, folder.path / "moved");
  x.models[0].path = (folder.path / "moved").string();
  BOOST_TEST(scope(x) == before);
  fs::rename(folder.path / "moved", model);
  x.models[0].path = model.string();
  {
    std::fstream file{weights, std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(-1, std::ios::end);
    const auto last = static_cast<char>(file.get());
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
  }
  fs::last_write_time(weights, date);
  const auto after = scope(x);
  BOOST_TEST(after != before);
  // A model that no device has is ignored.
  x.models.resize(2);
  x.models[1].name = "other";
  x.models[1].path = "nowhere";
  BOOST_TEST(scope(x) == after);
  x.models[0].path = "nowhere";
  const auto refused = runtime::digests_of_models(x);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.why().text.find("models: base: ") == 0u,
             refused.why().text);
}

BOOST_AUTO_TEST_SUITE_END()
