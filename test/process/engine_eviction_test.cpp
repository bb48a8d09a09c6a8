// SPDX-License-Identifier: Apache-2.0

// The entries that a running engine evicts from its full cache, by
// cache.eviction.

#include <boost/test/unit_test.hpp>
#include <process/recall_rig.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

struct eviction_fixture : test::recall_rig {
  static constexpr std::array prompts = {
    "a red ball on a table", "some blue cubes under water",
    "three green cats in deep snow", "one yellow pyramid at night"};

  // The engine's cache has room for three entries.
  std::vector<std::string> settings_with(const std::string& rule,
                                         bool on_disk) {
    auto set = settings("modm");
    set.push_back("cache.entries=3");
    set.push_back("cache.eviction='" + rule + "'");
    if (on_disk)
      set.push_back("cache.folder='" + (folder.path / rule).string() + "'");
    return set;
  }

  /// Returns the route of an answer to a prompt.
  static std::string route_of(engine& sut, size_t prompt,
                              const std::string& use) {
    auto x = wanted(prompts.at(prompt));
    x.cache = use;
    const auto made = test::answers_to(sut, {x});
    BOOST_TEST_REQUIRE(test::comes_to_rest(sut));
    return test::image_in(made.front()).route;
  }

  static bool is_kept(engine& sut, size_t prompt) {
    return route_of(sut, prompt, "read").starts_with("hit");
  }

  /// Returns which of three prompts loses its image to the fourth's. The first
  /// is the oldest, the second was unused for longest, and the third's image
  /// was used least.
  std::vector<size_t> leave(const std::string& rule, bool on_disk) {
    const auto set = settings_with(rule, on_disk);
    auto sut = test::start(mode::single, set);
    for (const size_t x : {0U, 1U, 2U})
      BOOST_TEST(route_of(*sut, x, "write") == "miss");
    for (const size_t x : {1U, 1U, 2U, 0U, 0U})
      BOOST_TEST(is_kept(*sut, x));
    if (on_disk) {
      // The earlier uses still count.
      BOOST_TEST(sut->stop(10s));
      sut.reset();
      sut = test::start(mode::single, set);
    }
    BOOST_TEST(route_of(*sut, 3, "write") == "miss");
    BOOST_TEST(sut->status().cache.value().entries == 3u);
    BOOST_TEST(sut->status().cache.value().evicted == 1u);
    std::vector<size_t> out;
    for (const size_t x : {0U, 1U, 2U})
      if (!is_kept(*sut, x))
        out.push_back(x);
    BOOST_TEST(is_kept(*sut, 3));
    BOOST_TEST(sut->stop(10s));
    return out;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_eviction_test, eviction_fixture)

BOOST_AUTO_TEST_CASE(the_configured_rule_chooses_what_leaves) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      BOOST_TEST(leave("fifo", on_disk) == std::vector<size_t>{0});
      BOOST_TEST(leave("lru", on_disk) == std::vector<size_t>{1});
      BOOST_TEST(leave("lcbfu", on_disk) == std::vector<size_t>{2});
    }
}

BOOST_AUTO_TEST_CASE(another_rule_is_refused_by_name) {
  const auto why = refusal({"cache.eviction='lfu'"}, "modm");
  for (const auto* const word : {"cache.eviction", "lfu", "fifo", "lcbfu"})
    BOOST_TEST(why.find(word) != std::string::npos, why);
}

BOOST_AUTO_TEST_SUITE_END()
