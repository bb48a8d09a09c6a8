// SPDX-License-Identifier: Apache-2.0
#include "changed_folder.hpp"
#include <atelier/gpu/models/catalog/model_check.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

using namespace atelier;
namespace fs = std::filesystem;
using core::ec;

namespace {

/// A model, and a folder that is not part of it.
struct fixture : test::changed_folder {
  /// Moves a part or file of the model to `to`, and leaves a link.
  void move_away(const std::string& name, const fs::path& to) const {
    fs::create_directories(to.parent_path());
    fs::rename(path / name, to);
    fs::create_symlink(to, path / name);
  }

  test::scratch_folder elsewhere;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(folder_links_test, fixture)

BOOST_AUTO_TEST_CASE(a_part_elsewhere_is_refused_unless_it_is_allowed) {
  move_away("unet", elsewhere.path / "unet");
  const auto why = refusal(ec::bad_payload);
  BOOST_TEST(why.starts_with("M/unet: it is a link to "
                             + fs::canonical(elsewhere.path / "unet").string()
                             + ", which is outside the model's folder"),
             why);
  BOOST_TEST(why.find("links = \"anywhere\"") != std::string::npos);
  const auto check = gpu::check_model(path, {});
  BOOST_REQUIRE(check);
  BOOST_TEST(!check->sound());
  options.links_anywhere = true;
  opened();
}

BOOST_AUTO_TEST_CASE(a_file_elsewhere_is_refused) {
  for (const std::string name :
       {"model_index.json", "vae/config.json", "tokenizer/merges.txt",
        "text_encoder/model.safetensors", "scheduler/scheduler_config.json"}) {
    // A folder with a model_index.json would be another model.
    const auto to =
      elsewhere.path / ("moved_" + fs::path{name}.filename().string());
    move_away(name, to);
    const auto why = refusal(ec::bad_payload);
    BOOST_TEST(why.starts_with("M/" + name + ": it is"), why);
    fs::remove(path / name);
    fs::rename(to, path / name);
  }
  opened();
}

BOOST_AUTO_TEST_CASE(an_autoencoder_from_elsewhere_has_no_links_either) {
  const auto own = elsewhere.path / "own";
  fs::copy(path / "vae", own, fs::copy_options::recursive);
  options.vae = own;
  opened();
  fs::rename(own / "config.json", elsewhere.path / "config.json");
  fs::create_symlink(elsewhere.path / "config.json", own / "config.json");
  BOOST_TEST((gpu::open_model(path, options).why().code == ec::bad_payload));
}

BOOST_AUTO_TEST_CASE(links_within_the_folder_are_fine) {
  move_away("unet", path / "parts/unet");
  fs::rename(path / "vae/config.json", path / "vae/other.json");
  fs::create_symlink("other.json", path / "vae/config.json");
  opened();
}

BOOST_AUTO_TEST_CASE(a_model_beside_it_lends_its_parts) {
  const auto family = elsewhere.path;
  fs::copy(path, family / "base", fs::copy_options::recursive);
  fs::copy(path, family / "small", fs::copy_options::recursive);
  fs::remove_all(family / "small/vae");
  fs::create_directory_symlink("../base/vae", family / "small/vae");
  BOOST_TEST(static_cast<bool>(gpu::open_model(family / "small", options)));
  // A neighbouring folder that is not a model is not accepted.
  fs::remove(family / "base/model_index.json");
  BOOST_TEST(!gpu::open_model(family / "small", options));
}

BOOST_AUTO_TEST_CASE(a_snapshot_of_hugging_faces_cache_is_fine) {
  const auto repository = elsewhere.path / "models--a--b";
  const auto snapshot = repository / "snapshots/0123";
  fs::create_directories(repository / "blobs");
  fs::create_directories(snapshot.parent_path());
  fs::copy(path, snapshot, fs::copy_options::recursive);
  size_t number = 0;
  for (const std::string name : {"model_index.json", "unet/config.json",
                                 "text_encoder/model.safetensors"}) {
    const auto blob = repository / "blobs" / std::to_string(number++);
    fs::rename(snapshot / name, blob);
    fs::create_symlink(blob, snapshot / name);
  }
  BOOST_TEST(static_cast<bool>(gpu::open_model(snapshot, options)));
  // The folder itself may be a link.
  fs::create_directory_symlink(snapshot, elsewhere.path / "link");
  BOOST_TEST(
    static_cast<bool>(gpu::open_model(elsewhere.path / "link", options)));
  // Blobs of another repository do not belong to the model.
  fs::remove(snapshot / "model_index.json");
  fs::create_directories(elsewhere.path / "models--c--d/blobs");
  fs::copy(path / "model_index.json",
           elsewhere.path / "models--c--d/blobs/index");
  fs::create_symlink("../../../models--c--d/blobs/index",
                     snapshot / "model_index.json");
  BOOST_TEST(!gpu::open_model(snapshot, options));
}

BOOST_AUTO_TEST_SUITE_END()
