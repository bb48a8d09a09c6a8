// SPDX-License-Identifier: Apache-2.0

// A running engine evicts from its full cache by the rule cache.eviction.

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

  /// Starts an engine whose cache has room for the states of one prompt, after
  /// two and five of ten steps, and for one more.
  std::unique_ptr<engine> start_with_states(bool on_disk) {
    auto measured = test::with_reuse();
    measured.reuse->latents = {{2, 0.3}, {5, 0.99}};
    folder.write("measured.json", planning::to_json(measured));
    auto set = settings();
    set.push_back("cache.eviction='lcbfu'");
    set.push_back("arena.state_slot_kib=512");
    set.push_back("arena.image_slot_kib=4096");
    set.push_back(on_disk ? "cache.disk_mib=1" : "cache.memory_mib=1");
    if (on_disk)
      set.push_back("cache.folder='" + (folder.path / "states").string() + "'");
    return test::start(mode::single, set);
  }

  static generation large(size_t prompt, const std::string& use) {
    auto x = wanted(prompts.at(prompt));
    x.width = x.height = 1'024;
    x.cache = use;
    return x;
  }

  static cache_status cache_of(engine& sut) {
    BOOST_TEST_REQUIRE(test::comes_to_rest(sut));
    return sut.status().cache.value();
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

BOOST_AUTO_TEST_CASE(lcbfu_keeps_the_state_that_was_used) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      auto sut = start_with_states(on_disk);
      test::answers_to(*sut, {large(0, "write")});
      BOOST_TEST(cache_of(*sut).entries == 1u);
      // A similar prompt takes the state after two steps.
      auto near = large(0, "read");
      near.prompt += " today";
      BOOST_TEST(repeated(*sut, near).reused.value().steps == 2u);
      test::answers_to(*sut, {large(1, "write")});
      auto told = cache_of(*sut);
      BOOST_TEST(told.entries == 2u);
      BOOST_TEST(told.evicted == 0u);
      BOOST_TEST(told.evicted_payloads == 1u);
      // The same prompt would take the state after five steps, which has left.
      BOOST_TEST(repeated(*sut, large(0, "read")).reused.value().steps == 2u);
      BOOST_TEST(repeated(*sut, large(1, "read")).reused.value().steps == 5u);
      // The second entry's state after two steps was never used, and the first
      // entry's last state skipped the fewest steps of the others.
      test::answers_to(*sut, {large(2, "write")});
      told = cache_of(*sut);
      BOOST_TEST(told.evicted == 1u);
      BOOST_TEST(told.evicted_payloads == 2u);
      BOOST_TEST(told.bytes <= told.most_bytes);
      BOOST_TEST(repeated(*sut, large(1, "read")).reused.value().steps == 5u);
      BOOST_TEST(repeated(*sut, large(2, "read")).reused.value().steps == 5u);
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(another_rule_is_refused_by_name) {
  const auto why = refusal({"cache.eviction='lfu'"}, "modm");
  for (const auto* const word : {"cache.eviction", "lfu", "fifo", "lcbfu"})
    BOOST_TEST(why.find(word) != std::string::npos, why);
}

BOOST_AUTO_TEST_SUITE_END()
