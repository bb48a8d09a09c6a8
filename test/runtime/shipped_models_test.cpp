// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/config/load.hpp>
#include <atelier/core/text_file.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/program_folder.hpp>
#include <atelier/runtime/shipped_models.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace atelier;
using runtime::with_shipped_models;

namespace fs = std::filesystem;

namespace {

using names = std::vector<std::string>;

/// A folder that looks like one with models of the family.
struct family {
  explicit family(const names& of) {
    for (const auto& name : of) {
      fs::create_directories(folder.path / name);
      std::ofstream{folder.path / name / "model_index.json"} << "{}";
    }
  }

  const test::scratch_folder folder;
};

config::settings settings_of(const char* toml) {
  auto read = config::parse(toml, "a.toml");
  BOOST_TEST_REQUIRE(read.faults.empty());
  return read.values;
}

} // namespace

BOOST_AUTO_TEST_SUITE(shipped_models_test)

BOOST_AUTO_TEST_CASE(without_the_family_the_test_card_draws) {
  const auto x = with_shipped_models({}, "");
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST(x->devices[0].executor == "test_card");
  BOOST_TEST(x->devices[0].variants == names{"test_card@20"});
  BOOST_TEST(x->models.empty());
}

BOOST_AUTO_TEST_CASE(no_test_card_draws_where_models_are_expected) {
  const char* const before = std::getenv("ATELIER_MODELS");
  const std::string old = before == nullptr ? "" : before;
  unsetenv("ATELIER_MODELS");
  const auto x = with_shipped_models({}, "");
  const family other{{"other"}};
  const auto y = with_shipped_models({}, other.folder.path);
  const auto card = with_shipped_models(
    settings_of("[[devices]]\nexecutor = 'test_card'\n"), "");
  if (before != nullptr)
    setenv("ATELIER_MODELS", old.c_str(), 1);
  BOOST_TEST_REQUIRE(static_cast<bool>(card));
  BOOST_TEST(card->devices[0].executor == "test_card");
#ifdef ATELIER_WITH_TORCH
  BOOST_TEST_REQUIRE(!x);
  BOOST_CHECK(x.why().code == core::ec::not_found);
  BOOST_TEST(x.why().text.find("not beside the program") != std::string::npos,
             x.why().text);
  BOOST_TEST_REQUIRE(!y);
  BOOST_TEST(y.why().text.find("not in " + other.folder.path.string())
               != std::string::npos,
             y.why().text);
#else
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST_REQUIRE(static_cast<bool>(y));
  BOOST_TEST(x->devices[0].executor == "test_card");
#endif
}

BOOST_AUTO_TEST_CASE(with_the_family_its_models_draw_base_first) {
  const family there{{"turbo", "base"}};
  const auto x = with_shipped_models({}, there.folder.path);
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
#ifdef ATELIER_WITH_TORCH
  BOOST_TEST(x->devices[0].executor == "torch");
  BOOST_TEST((x->devices[0].variants == names{"base@50", "turbo@4"}));
  BOOST_TEST_REQUIRE(x->models.size() == 2u);
  BOOST_TEST(x->models[1].name == "turbo");
  BOOST_TEST(x->models[1].path == (there.folder.path / "turbo").string());
  BOOST_TEST(x->models[0].guidance == 2);
  BOOST_TEST(x->models[1].guidance == 1);
#else
  BOOST_TEST(x->devices[0].executor == "test_card");
#endif
}

BOOST_AUTO_TEST_CASE(models_of_the_user_come_before_those_of_that_name) {
  const family there{{"base", "tiny"}};
  const auto x = with_shipped_models(
    settings_of("[[models]]\nname = 'base'\npath = '/mine'\n[[devices]]\n"
                "executor = 'torch'\nvariants = ['base@9', 'tiny@3/bf16']\n"),
    there.folder.path);
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST((x->devices[0].variants == names{"base@9", "tiny@3/bf16"}));
  BOOST_TEST_REQUIRE(x->models.size() == 2u);
  BOOST_TEST(x->models[0].path == "/mine");
  BOOST_TEST(x->models[1].name == "tiny");
}

BOOST_AUTO_TEST_CASE(variants_say_what_runs_where_nothing_else_does) {
  const family there{{"base"}};
  const auto kind = [&](const char* toml) {
    const auto x = with_shipped_models(settings_of(toml), there.folder.path);
    BOOST_TEST_REQUIRE(static_cast<bool>(x));
    return x->devices[0].executor;
  };
  BOOST_TEST(kind("[[devices]]\nvariants = ['base@9']\n") == "torch");
  BOOST_TEST(kind("[[devices]]\nvariants = ['test_card@9']\n") == "test_card");
  BOOST_TEST(kind("[[models]]\nname = 'sd'\npath = '/sd'\n[[devices]]\n"
                  "variants = ['sd@9']\n")
             == "torch");
  BOOST_TEST(kind("[[devices]]\nexecutor = 'test_card'\n") == "test_card");
}

BOOST_AUTO_TEST_CASE(steps_keep_to_the_limit) {
  const family there{{"base"}};
  const auto x = with_shipped_models(
    settings_of("limits.steps = 7\n[[devices]]\nexecutor = 'torch'\n"
                "[[devices]]\nname = 'cpu:1'\nexecutor = 'test_card'\n"),
    there.folder.path);
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST(x->devices[0].variants == names{"base@7"});
  BOOST_TEST(x->devices[1].variants == names{"test_card@7"});
}

BOOST_AUTO_TEST_CASE(a_model_that_is_not_there_is_told_by_name) {
  const family there{{"base"}};
  const auto told = [&](const char* toml, const fs::path& in) {
    const auto x = with_shipped_models(settings_of(toml), in);
    BOOST_TEST_REQUIRE(!x);
    BOOST_CHECK(x.why().code == core::ec::not_found);
    return x.why().text;
  };
  BOOST_TEST(
    told("[[devices]]\nvariants = ['base@9', 'tiny@9']\n", there.folder.path)
      .find("cpu:0: 'tiny@9' is of Atelier's own models")
    != std::string::npos);
  BOOST_TEST(told("[[devices]]\nexecutor = 'torch'\n", "")
               .find("cpu:0: it names no variants")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_family_lies_where_the_variable_says_or_beside) {
  const char* const before = std::getenv("ATELIER_MODELS");
  const std::string old = before == nullptr ? "" : before;
  setenv("ATELIER_MODELS", "/somewhere", 1);
  BOOST_TEST(runtime::models_folder() == "/somewhere");
  unsetenv("ATELIER_MODELS");
  // This program is below the source tree, as in build/PRESET.
  const auto self = fs::read_symlink("/proc/self/exe");
  fs::path expected;
  for (auto at = self; expected.empty() && at.has_relative_path();
       at = at.parent_path())
    if (fs::exists(at / "models" / "base" / "known_words.txt"))
      expected = at / "models";
  BOOST_TEST(runtime::models_folder() == expected);
  if (before != nullptr)
    setenv("ATELIER_MODELS", old.c_str(), 1);
}

#ifdef ATELIER_WITH_TORCH
BOOST_AUTO_TEST_CASE(the_familys_qualities_are_compared_beyond_chance) {
  // The environment set by CTest has no family.
  const char* const before = std::getenv("ATELIER_MODELS");
  const std::string old = before == nullptr ? "" : before;
  unsetenv("ATELIER_MODELS");
  const auto folder = runtime::models_folder();
  if (before != nullptr)
    setenv("ATELIER_MODELS", old.c_str(), 1);
  BOOST_TEST_REQUIRE(fs::exists(folder / "profile.json"));
  const auto x = with_shipped_models(
    settings_of("[[devices]]\nvariants = ['base@50', 'base@20', 'small@50', "
                "'tiny@50', 'turbo@4']\n"),
    folder);
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST(x->planner.quality == (folder / "profile.json").string());
  const auto known = runtime::profile_of(*x);
  BOOST_REQUIRE_MESSAGE(known, (known ? "" : known.why().text));
  const auto quality = [&](const char* name) {
    const auto at = planning::find_variant(*known, name);
    BOOST_TEST_REQUIRE(at.has_value());
    return known->variants[at->value].quality;
  };
  BOOST_TEST(quality("base@50") >= quality("base@20"));
  // Differences that exceed chance remain.
  BOOST_TEST(quality("base@50") > quality("small@50"));
  BOOST_TEST(quality("small@50") > quality("tiny@50"));
  const auto path = (folder / "profile.json").string();
  const auto file =
    core::read_text_file(path, planning::most_profile_bytes, path);
  BOOST_TEST_REQUIRE(static_cast<bool>(file));
  const auto measured = planning::parse_profile(*file, "profile.json");
  BOOST_TEST_REQUIRE(static_cast<bool>(measured));
  for (const auto& v : measured->variants) {
    BOOST_TEST(v.quality_images >= 600u, v.name);
    BOOST_TEST(v.quality_deviation > 0, v.name);
    BOOST_TEST((v.load.count() > 0 && v.memory_bytes > 0), v.name);
  }
  BOOST_TEST(!measured->cascades.empty());
  for (const auto& c : measured->cascades) {
    BOOST_TEST(c.fid_error.size() == c.fid.size());
    // All are compared with the first one.
    BOOST_TEST_REQUIRE(c.fid_error.size() > 1u);
    BOOST_TEST(c.fid_error[0] == 0.0);
    for (size_t i = 1; i < c.fid_error.size(); ++i)
      BOOST_TEST(c.fid_error[i] > 0);
  }
}

BOOST_AUTO_TEST_CASE(what_judges_the_familys_images_comes_with_them) {
  const family there{{"turbo", "base"}};
  const auto& path = there.folder.path;
  auto x = with_shipped_models({}, path);
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST(x->policy.judges == path.string());
  BOOST_TEST(x->planner.quality.empty());
  std::ofstream{path / "profile.json"} << "{}";
  x = with_shipped_models({}, path);
  BOOST_TEST(x->planner.quality == (path / "profile.json").string());
  x = with_shipped_models(
    settings_of("[policy]\njudges = \"j\"\n[planner]\nquality = \"q\"\n"),
    path);
  BOOST_TEST(x->policy.judges == "j");
  BOOST_TEST(x->planner.quality == "q");
  x = with_shipped_models(settings_of("[[devices]]\nname = \"cpu:0\"\n"
                                      "variants = [\"test_card@3\"]\n"),
                          path);
  BOOST_TEST(x->policy.judges.empty());
}

BOOST_AUTO_TEST_CASE(what_classifies_the_familys_prompts_comes_with_them) {
  const family there{{"base"}};
  const auto& path = there.folder.path;
  auto x = with_shipped_models({}, path);
  BOOST_TEST_REQUIRE(static_cast<bool>(x));
  BOOST_TEST(x->classifier.folder.empty());
  fs::create_directories(path / "classifier");
  std::ofstream{path / "classifier" / "config.json"} << "{}";
  x = with_shipped_models({}, path);
  BOOST_TEST(x->classifier.folder == (path / "classifier").string());
  x = with_shipped_models(settings_of("[classifier]\nfolder = \"c\"\n"), path);
  BOOST_TEST(x->classifier.folder == "c");
  x = with_shipped_models(settings_of("[[devices]]\nname = \"cpu:0\"\n"
                                      "variants = [\"test_card@3\"]\n"),
                          path);
  BOOST_TEST(x->classifier.folder.empty());
}
#endif

BOOST_AUTO_TEST_SUITE_END()
