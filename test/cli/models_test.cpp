// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "gpu/models/tiny_model.hpp"
#include <atelier/runtime/cli/model_report.hpp>
#include <atelier/runtime/cli/model_store.hpp>
#include <atelier/runtime/cli/program.hpp>
#include <atelier/runtime/cli/transfer_bar.hpp>
#include <atelier/runtime/program_folder.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;
using core::ec;
using namespace std::chrono_literals;

namespace {

using words = std::vector<std::string>;

/// A data folder, and a model as a folder and as a file.
struct fixture : test::scratch_folder {
  fixture() {
    // Most cases must not see the shipped models.
    if (const char* named = std::getenv("ATELIER_MODELS"))
      named_before = named;
    setenv("ATELIER_MODELS", "", 1);
    tiny_checkpoint(model).write(path / "file.safetensors");
    std::filesystem::create_directories(store.folder());
  }

  ~fixture() {
    if (named_before)
      setenv("ATELIER_MODELS", named_before->c_str(), 1);
    else
      unsetenv("ATELIER_MODELS");
  }

  exit_status run(words arguments) {
    out.str("");
    err.str("");
    arguments.insert(arguments.begin(), {"--data", (path / "data").string()});
    return run_program(arguments, world);
  }

  exit_status import(words more) {
    words arguments = {"models", "import", model.path.string(), "--name",
                       "tiny"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  bool told(std::string_view what) const {
    return err.str().find(what) != std::string::npos;
  }

  bool printed(std::string_view what) const {
    return out.str().find(what) != std::string::npos;
  }

  std::optional<std::string> named_before;
  test::tiny_folder model;
  model_store store{path / "data"};
  test::fake_interruption interrupted;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  environment world{{in, out, err, 0},
                    interrupted,
                    [](const engine_options&) -> started_service {
                      return failure{"internal", "no engine is needed", {}};
                    },
                    "1.2.3",
                    [] { return uint64_t{7}; }};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(models_test, fixture)

BOOST_AUTO_TEST_CASE(an_empty_store_is_told_and_is_no_failure) {
  BOOST_TEST((run({"models"}) == exit_status::done));
  BOOST_TEST(told("no model was found in"));
  BOOST_TEST(out.str() == "");
  std::filesystem::remove_all(path / "data");
  BOOST_TEST((run({"models", "list"}) == exit_status::done));
}

BOOST_AUTO_TEST_CASE(a_store_has_folders_and_files_but_no_hidden_ones) {
  for (const auto* name : {"b", ".a-1-0.part"})
    std::filesystem::create_directory(store.folder() / name);
  for (const auto* name : {"a.safetensors", "notes.txt", ".x.safetensors"})
    std::ofstream{store.folder() / name} << "x";
  const auto all = *store.list();
  BOOST_TEST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].name == "a.safetensors");
  BOOST_TEST(all[1].name == "b");
}

BOOST_AUTO_TEST_CASE(a_model_is_found_by_its_name_or_its_path) {
  std::filesystem::create_directory(store.folder() / "sd15");
  std::ofstream{store.folder() / "xl.safetensors"} << "x";
  BOOST_TEST(store.find("sd15")->path == store.folder() / "sd15");
  BOOST_TEST(store.find("xl")->name == "xl.safetensors");
  const auto file = (path / "file.safetensors").string();
  BOOST_TEST(store.find(file)->path == file);
  BOOST_TEST(store.find(file)->name == "file");
  const auto none = store.find("sd51");
  BOOST_TEST_REQUIRE(!none);
  BOOST_TEST((none.why().code == ec::not_found));
  BOOST_TEST(none.why().text.ends_with("the nearest is 'sd15'"));
  BOOST_TEST(!store.find(""));
}

BOOST_AUTO_TEST_CASE(a_name_is_a_files_name_and_nothing_else) {
  BOOST_TEST(*store.place("a b\u00e9") == store.folder() / "a b\u00e9");
  for (const auto& bad :
       words{"", ".", "..", ".x", "a/b", "/x", "x.safetensors", "\xff",
             std::string(256, 'n'), std::string("a\0b", 3)}) {
    const auto x = store.place(bad);
    BOOST_TEST_REQUIRE(!x, bad);
    BOOST_TEST((x.why().code == ec::invalid_argument));
    BOOST_TEST(x.why().text.starts_with("--name: "));
  }
  BOOST_TEST(name_from("/x/y.safetensors") == "y");
  BOOST_TEST(name_from("/x/y/") == "y");
}

BOOST_AUTO_TEST_CASE(an_imported_model_is_listed_and_shown) {
  BOOST_TEST((import({"--dtype", "bf16"}) == exit_status::done), err.str());
  BOOST_TEST((run({"models"}) == exit_status::done));
  BOOST_TEST(printed("tiny                     you      stable_diffusion"));
  BOOST_TEST(printed("bfloat16"));
  BOOST_TEST(printed("unet, vae, text_encoder"));
  BOOST_TEST((run({"models", "show", "tiny"}) == exit_status::done));
  BOOST_TEST(printed("unet: UNet2DConditionModel, "));
  BOOST_TEST(printed("\"block_out_channels\": ["));
  BOOST_TEST(printed("scheduler    DDIMScheduler\n"));
  BOOST_TEST(
    (run({"models", "show", model.path.string()}) == exit_status::done));
  BOOST_TEST(printed("not loaded   feature_extractor, safety_checker"));
  BOOST_TEST(printed("float32"));
}

BOOST_AUTO_TEST_CASE(a_single_file_is_shown_with_what_it_lacks) {
  const auto file = (path / "file.safetensors").string();
  BOOST_TEST((run({"models", "show", file}) == exit_status::done));
  BOOST_TEST(printed("missing      tokenizer\n"));
  BOOST_TEST((run({"models", "check", file}) == exit_status::done));
  BOOST_TEST(printed("note     "));
  BOOST_TEST(printed("\nsound: 1 files, "));
  // A build tree may have a vocabulary that the set-up downloaded.
  if (runtime::vocabulary_folder().empty()) {
    BOOST_TEST((run({"models", "import", file}) == exit_status::not_there));
    BOOST_TEST(told("must be named: --vocabulary DIR\n"));
  }
  BOOST_TEST((run({"models", "import", file, "--vocabulary",
                   (model.path / "tokenizer").string()})
              == exit_status::done));
  BOOST_TEST(std::filesystem::exists(store.folder() / "file" / "unet"));
}

BOOST_AUTO_TEST_CASE(parts_may_come_from_a_model_of_the_store) {
  BOOST_TEST((import({}) == exit_status::done));
  model.remove("vae");
  BOOST_TEST(
    (run({"models", "check", model.path.string()}) == exit_status::bad_input));
  BOOST_TEST(printed("vae is missing"));
  for (const auto* option : {"--vae", "--parts-from"})
    BOOST_TEST((run({"models", "check", model.path.string(), option, "tiny"})
                == exit_status::done),
               out.str() + err.str());
  BOOST_TEST((run({"models", "check", model.path.string(), "--vae", "tinny"})
              == exit_status::not_there));
  BOOST_TEST(told("the nearest is 'tiny'"));
}

BOOST_AUTO_TEST_CASE(a_broken_model_does_not_hide_the_others) {
  BOOST_TEST((import({}) == exit_status::done));
  std::filesystem::create_directory(store.folder() / "broken");
  BOOST_TEST((run({"models"}) == exit_status::done));
  BOOST_TEST(printed("broken                   broken: "));
  BOOST_TEST(printed("\ntiny "));
  BOOST_TEST((run({"models", "--json"}) == exit_status::done));
  BOOST_TEST(out.str().starts_with("{\"name\":\"broken\",\"path\":"));
}

BOOST_AUTO_TEST_CASE(models_that_come_along_are_listed_shown_and_checked) {
  const auto family = path / "family";
  std::filesystem::create_directory(family);
  std::filesystem::copy(model.path, family / "base",
                        std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(family / "scorer");
  setenv("ATELIER_MODELS", family.c_str(), 1);
  BOOST_TEST((run({"models", "import", model.path.string(), "--name", "mine"})
              == exit_status::done),
             err.str());
  BOOST_TEST((run({"models"}) == exit_status::done));
  BOOST_TEST(printed("\nbase                     Atelier  stable_diffusion"));
  BOOST_TEST(printed("\nmine                     you      stable_diffusion"));
  BOOST_TEST(!printed("scorer"));
  BOOST_TEST((run({"models", "--json"}) == exit_status::done));
  BOOST_TEST(printed("\"shipped\":true"));
  BOOST_TEST(printed("\"shipped\":false"));
  BOOST_TEST((run({"models", "show", "base"}) == exit_status::done));
  BOOST_TEST(printed("unet: UNet2DConditionModel, "));
  BOOST_TEST((run({"models", "check", "base"}) == exit_status::done));
  BOOST_TEST(printed("sound: "));
  BOOST_TEST((run({"models", "show", "bsae"}) == exit_status::not_there));
  BOOST_TEST(told("the nearest is 'base'"));
  BOOST_TEST((run({"models", "import", model.path.string(), "--name", "base"})
              == exit_status::bad_input));
  BOOST_TEST(told("--name: 'base' is one of Atelier's own models"));
}

BOOST_AUTO_TEST_CASE(a_wish_to_stop_ends_an_import_and_a_check) {
  interrupted.wish();
  BOOST_TEST((import({}) == exit_status::interrupted));
  BOOST_TEST(std::filesystem::is_empty(store.folder()));
  BOOST_TEST((run({"models", "check", model.path.string(), "--scan"})
              == exit_status::interrupted));
}

BOOST_AUTO_TEST_CASE(options_go_with_their_verbs) {
  const auto refused = [&](words arguments) {
    BOOST_TEST((run(arguments) == exit_status::bad_input));
    return err.str();
  };
  BOOST_TEST(
    refused({"models", "list", "--force"})
    == "atelier: --force is valid with models import, not with list\n");
  BOOST_TEST(
    refused({"models", "check", "x", "--name", "y"})
    == "atelier: --name is valid with models import, not with check\n");
  BOOST_TEST(
    refused({"models", "import", "x", "--scan"})
    == "atelier: --scan is valid with models check, not with import\n");
  BOOST_TEST(
    refused({"models", "list", "--vae", "x"})
    == "atelier: --vae is valid with models show, import or check, not "
       "with list\n");
}

BOOST_AUTO_TEST_CASE(bytes_are_shown_as_people_write_them) {
  BOOST_TEST(show_bytes(0) == "0 B");
  BOOST_TEST(show_bytes(999) == "999 B");
  BOOST_TEST(show_bytes(1000) == "1.00 kB");
  BOOST_TEST(show_bytes(9'994) == "9.99 kB");
  BOOST_TEST(show_bytes(9'996) == "10.0 kB");
  BOOST_TEST(show_bytes(999'400) == "999 kB");
  BOOST_TEST(show_bytes(999'600) == "1.00 MB");
  BOOST_TEST(show_bytes(4'265'146'304) == "4.27 GB");
  BOOST_TEST(show_bytes(~uint64_t{0}).ends_with(" TB"));
}

BOOST_AUTO_TEST_CASE(a_transfer_tells_its_rate_and_the_time_left) {
  BOOST_TEST(!transfer_line(1, 2, 900ms, 80));
  BOOST_TEST(!transfer_line(0, 0, 5s, 80));
  const auto line = *transfer_line(1'000'000, 4'000'000, 2s, 80);
  BOOST_TEST(line.starts_with("[#########"));
  BOOST_TEST(line.ends_with("] 1.00 MB of 4.00 MB  500 kB/s  6 s left"));
  BOOST_TEST(line.size() < 80u);
  for (uint32_t columns = 0; columns < 200; ++columns)
    BOOST_TEST(transfer_line(3, 4, 10s, columns)->size()
               <= std::max(1u, columns) - 1);
}

BOOST_AUTO_TEST_SUITE_END()
