// SPDX-License-Identifier: Apache-2.0

// Prompts that a network compares, on a running engine.

#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_bert.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>

#include <string>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

/// This is above the similarity by words of the prompts, and below that of the
/// scorer.
constexpr double least_similarity = 0.7;

struct encoding : test::recall_rig {
  encoding() : recall_rig(least_similarity) {}

  // The policy uses every match that is similar enough.
  std::unique_ptr<engine> start(mode how, std::vector<std::string> more) {
    auto set = settings("modm");
    set.insert(set.end(), more.begin(), more.end());
    return test::start(how, set);
  }

  static std::string route_of(engine& sut, const std::string& prompt) {
    const auto made = test::answers_to(sut, {wanted(prompt)});
    return test::image_in(made.front()).route;
  }

  const std::string scorer =
    "cache.encoder='" ATELIER_SOURCE_DIR "/models/scorer'";
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_encoder_test, encoding)

BOOST_AUTO_TEST_CASE(a_prompt_in_other_words_starts_from_earlier_work) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how, {scorer});
      BOOST_TEST(route_of(*sut, "a small red circle") == "miss");
      remembered(*sut);
      // A prompt with another meaning finds nothing.
      BOOST_TEST(route_of(*sut, "a large blue star") == "miss");
      BOOST_TEST(route_of(*sut, "a little red disc") == "hit, k=5");
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(what_is_on_disk_is_found_in_other_words_after_a_restart) {
  const auto kept = "cache.folder='" + (folder.path / "kept").string() + "'";
  {
    auto sut = start(mode::single, {scorer, kept});
    BOOST_TEST(route_of(*sut, "a small red circle") == "miss");
    remembered(*sut);
    BOOST_TEST(sut->stop(10s));
  }
  auto sut = start(mode::single, {scorer, kept});
  BOOST_TEST(sut->status().cache.value().entries == 1u);
  // Its vector was kept.
  BOOST_TEST(sut->status().cache.value().encoded == 0u);
  BOOST_TEST(route_of(*sut, "a little red disc") == "hit, k=5");
  BOOST_TEST(sut->status().cache.value().encoded == 1u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(by_words_it_is_not_found) {
  auto sut = start(mode::single, {});
  BOOST_TEST(route_of(*sut, "a small red circle") == "miss");
  remembered(*sut);
  BOOST_TEST(route_of(*sut, "a little red disc") == "miss");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_sentence_encoder_finds_words_of_one_vector) {
  const auto encoder = (folder.path / "bert").string();
  test::write_tiny_bert(encoder, {{"small", "little"},
                                  {"red", "crimson"},
                                  {"circle", "disc"},
                                  {"large", "huge"},
                                  {"blue"},
                                  {"star"}});
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how, {"cache.encoder='" + encoder + "'"});
      BOOST_TEST(route_of(*sut, "a small red circle") == "miss");
      remembered(*sut);
      BOOST_TEST(route_of(*sut, "a huge blue star") == "miss");
      BOOST_TEST(route_of(*sut, "a little crimson disc") == "hit, k=5");
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->status().cache.value().failures == 0u);
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(a_search_and_its_entry_encode_a_prompt_once) {
  for (const bool remembers : {true, false})
    BOOST_TEST_CONTEXT(remembers) {
      std::vector<std::string> set{scorer};
      if (!remembers)
        set.emplace_back("cache.encoder_memo=0");
      auto sut = start(mode::single, set);
      BOOST_TEST(route_of(*sut, "a small red circle") == "miss");
      remembered(*sut);
      const auto told = sut->status().cache.value();
      BOOST_TEST(told.encoded == (remembers ? 1u : 2u));
      BOOST_TEST(told.recalled == (remembers ? 1u : 0u));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(an_encoder_that_cannot_be_opened_is_named) {
  const auto why =
    refusal({"cache.encoder='/nowhere'"}, "nirvana", "not_found");
  BOOST_TEST(why.find("cache.encoder") != std::string::npos, why);
  BOOST_TEST(why.find("/nowhere/config.json") != std::string::npos, why);
}

BOOST_AUTO_TEST_SUITE_END()
