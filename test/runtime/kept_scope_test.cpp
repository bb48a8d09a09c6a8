// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/runtime/kept_scope.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>

using namespace atelier;

namespace {

namespace fs = std::filesystem;

std::string scope(const config::settings& x) {
  const auto made = runtime::kept_scope(x);
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.why().text));
  BOOST_TEST(made->size() == 64u);
  return *made;
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

BOOST_AUTO_TEST_CASE(other_files_of_a_model_have_another_scope) {
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
  BOOST_TEST(scope(x) == before);
  for (const auto& file : fs::recursive_directory_iterator{model})
    if (file.path().extension() == ".safetensors"
        && file.path().string().find("/unet/") != std::string::npos)
      fs::last_write_time(file,
                          file.last_write_time() + std::chrono::seconds{1});
  const auto after = scope(x);
  BOOST_TEST(after != before);
  // A model that no device has is ignored.
  x.models.resize(2);
  x.models[1].name = "other";
  x.models[1].path = "nowhere";
  BOOST_TEST(scope(x) == after);
  x.models[0].path = "nowhere";
  BOOST_TEST(!runtime::kept_scope(x));
}

BOOST_AUTO_TEST_SUITE_END()
