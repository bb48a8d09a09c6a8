// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include "scratch_folder.hpp"
#include <atelier/core/tenant.hpp>
#include <atelier/index/store/store.hpp>
#include <atelier/runtime/cli/program.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;

namespace {

namespace fs = std::filesystem;

/// A cache of two entries.
struct cache_fixture : test::scratch_folder {
  cache_fixture() {
    const auto sut = open();
    for (const auto* text : {"a red fox", "a blue owl"}) {
      index::leftover what;
      what.whose = core::tenant_of(text);
      what.states.push_back({5, std::vector<std::byte>(100)});
      BOOST_REQUIRE(sut->keep("k", text, what));
    }
  }

  std::shared_ptr<index::store> open() const {
    index::store_options x;
    x.folder = folder();
    x.bytes = 1 << 20;
    x.entries = 10;
    auto made = index::store::open(x);
    BOOST_REQUIRE(made);
    return *made;
  }

  std::string folder() const {
    return (path / "cache").string();
  }

  exit_status run(std::vector<std::string> arguments) {
    out.str("");
    err.str("");
    arguments.insert(arguments.begin(), "cache");
    return run_program(arguments, world);
  }

  exit_status run_there(const std::string& verb) {
    return run({verb, "--folder", folder(), "--json"});
  }

  nlohmann::json printed() const {
    return nlohmann::json::parse(out.str());
  }

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

BOOST_FIXTURE_TEST_SUITE(cache_test, cache_fixture)

BOOST_AUTO_TEST_CASE(what_a_cache_holds_is_told) {
  BOOST_TEST((run_there("stats") == exit_status::done), err.str());
  BOOST_TEST(printed()["entries"] == 2);
  BOOST_TEST(printed()["payload_bytes"] == 200);
  BOOST_TEST(printed()["with_image"] == 0);
  BOOST_TEST(printed()["oldest"].get<std::string>().size() == 20u);
  BOOST_TEST((run({"stats", "--folder", folder()}) == exit_status::done));
  BOOST_TEST(out.str().starts_with("2 entries of 2 API keys\n"));
}

BOOST_AUTO_TEST_CASE(a_damaged_entry_has_a_status_of_its_own) {
  BOOST_TEST((run_there("verify") == exit_status::done));
  BOOST_TEST(printed()["sound"] == true);
  fs::resize_file(path / "cache" / "payload" / "02" / "0000000000000002", 7);
  BOOST_TEST((run_there("verify") == exit_status::failed));
  BOOST_TEST(printed()["sound"] == false);
  BOOST_TEST(printed()["damaged"][0]["entry"] == 2);
  BOOST_TEST((run({"verify", "--folder", folder()}) == exit_status::failed));
  BOOST_TEST(out.str().find("entry 2: its file has 7 bytes, not 100")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_cache_is_cleared) {
  BOOST_TEST((run_there("clear") == exit_status::done));
  BOOST_TEST(printed()["removed"] == 2);
  BOOST_TEST(open()->counts().entries == 0u);
}

BOOST_AUTO_TEST_CASE(a_cache_is_cleared_of_one_key) {
  const auto clear = [&](const std::string& key) {
    return run({"clear", "--key", key, "--folder", folder(), "--json"});
  };
  BOOST_TEST((clear("nobody") == exit_status::done));
  BOOST_TEST(printed()["removed"] == 0);
  BOOST_TEST((clear("a red fox") == exit_status::done));
  BOOST_TEST(printed()["removed"] == 1);
  BOOST_TEST(open()->counts().entries == 1u);
  BOOST_TEST((run({"stats", "--key", "x", "--folder", folder()})
              == exit_status::bad_input));
  BOOST_TEST(
    err.str().find("--key: 'x' is for 'clear' and 'warm', not for 'stats'")
    != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_cache_is_cleared_of_what_is_old) {
  {
    index::store_options with;
    with.folder = folder();
    with.bytes = 1 << 20;
    with.entries = 10;
    with.date = [] { return 1'000; };
    index::leftover what;
    what.states.push_back({5, std::vector<std::byte>(100)});
    BOOST_REQUIRE((*index::store::open(with))->keep("k", "a green frog", what));
  }
  const auto clear = [&](const std::string& age) {
    return run({"clear", "--older-than", age, "--folder", folder(), "--json"});
  };
  BOOST_TEST((clear("1h") == exit_status::done), err.str());
  BOOST_TEST(printed()["removed"] == 1);
  BOOST_TEST(open()->counts().entries == 2u);
  for (const auto* age : {"", "h", "0d", "1.5d", "30", "10001d", "-1d"}) {
    BOOST_TEST((clear(age) == exit_status::bad_input), age);
    BOOST_TEST(err.str().find("--older-than: ") != std::string::npos, age);
  }
  BOOST_TEST((run({"verify", "--older-than", "1d", "--folder", folder()})
              == exit_status::bad_input));
  BOOST_TEST(err.str().find("--older-than: '1d' is for 'clear', not for "
                            "'verify'")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_folder_may_be_the_configurations) {
  BOOST_TEST(
    (run({"stats", "--json", "--set", "cache.folder='" + folder() + "'",
          "--set", "cache.memory_mib=1"})
     == exit_status::done),
    err.str());
  BOOST_TEST(printed()["entries"] == 2);
  // The printed statistics include its rule.
  BOOST_TEST(printed()["eviction"] == "lru");
  BOOST_TEST((run({"stats", "--set", "cache.folder='" + folder() + "'", "--set",
                   "cache.memory_mib=1", "--set", "cache.eviction='lcbfu'"})
              == exit_status::done));
  BOOST_TEST(out.str().ends_with("\ncache.eviction: lcbfu\n"
                                 "cache.compares: prompts\n"),
             out.str());
  BOOST_TEST(
    (run({"stats", "--json", "--set", "cache.folder='" + folder() + "'",
          "--set", "cache.memory_mib=1", "--set", "cache.compares='images'",
          "--set", "cache.encoder='clip'"})
     == exit_status::done));
  BOOST_TEST(printed()["compares"] == "images");
  BOOST_TEST((run_there("stats") == exit_status::done));
  BOOST_TEST(!printed().contains("eviction"));
  BOOST_TEST(!printed().contains("compares"));
  BOOST_TEST((run({"stats"}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("--folder is missing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_no_cache_or_in_use_is_refused) {
  BOOST_TEST((run({"stats", "--folder", (path / "none").string()})
              == exit_status::not_there));
  BOOST_TEST(err.str().find("no cache was found") != std::string::npos);
  // Root may read any folder, but not one that is a link to itself.
  const auto loop = path / "loop";
  std::filesystem::create_symlink(loop, loop);
  BOOST_TEST(
    (run({"verify", "--folder", loop.string()}) != exit_status::not_there));
  BOOST_TEST(err.str().find("cannot read the folder " + loop.string())
             != std::string::npos);
  const auto server = open();
  BOOST_TEST((run_there("clear") == exit_status::not_there));
  BOOST_TEST(err.str().find("is in use by process") != std::string::npos);
  BOOST_TEST(server->counts().entries == 2u);
}

BOOST_AUTO_TEST_CASE(other_words_are_refused) {
  BOOST_TEST((run({}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("verify, stats, clear or warm")
             != std::string::npos);
  BOOST_TEST((run({"clean", "--folder", folder()}) == exit_status::bad_input));
  BOOST_TEST(err.str().find("'clean' is not verify, stats, clear or warm")
             != std::string::npos);
  BOOST_TEST(
    (run({"clear", "it", "--folder", folder()}) == exit_status::bad_input));
  BOOST_TEST((run({"stats", "--folder", ""}) == exit_status::bad_input));
}

BOOST_AUTO_TEST_SUITE_END()
