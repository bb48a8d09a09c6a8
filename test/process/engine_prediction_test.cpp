// SPDX-License-Identifier: Apache-2.0

// The predictor of matches on a running engine: what it learns, the searches
// that it saves, and the rates that are measured.

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>
#include <support/eventually.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

struct fixture : test::recall_rig {
  static cache_status told(const engine& sut) {
    return sut.status().cache.value();
  }

  static uint64_t searches(const engine& sut) {
    const auto x = told(sut);
    return x.hits + x.misses;
  }

  std::unique_ptr<engine> start_fast(mode how, const std::string& policy) {
    auto set = settings(policy);
    for (auto& line : set)
      if (line.starts_with("devices="))
        line = "devices=[{name='cpu:0',executor='test_card',"
               "variants=['card@10','card@4']}]";
    set.insert(set.end(), {"planner.period_s=0.2", "monitor.window_s=1",
                           "monitor.windows=600"});
    return test::start(how, set);
  }

  static generation only_read(const std::string& prompt) {
    auto x = wanted(prompt);
    x.cache = "read";
    return x;
  }

  // Returns what the plan says of the predictor.
  static std::string reason(const engine& sut) {
    for (const auto& x : sut.status().reasons)
      if (x.starts_with("predictor of matches: "))
        return x;
    return {};
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_prediction_test, fixture)

BOOST_AUTO_TEST_CASE(a_dissimilar_prompt_is_answered_without_a_search) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start_fast(how, "nirvana-paper");
      BOOST_TEST(reason(*sut).starts_with(
        "predictor of matches: asked always, precision 0.960 and recall 0.950 "
        "as published"));
      const auto ball = wanted("a red ball on a table");
      test::answers_to(*sut, {ball});
      remembered(*sut);
      // The first questions train the predictor.
      BOOST_TEST_REQUIRE(test::eventually([&] {
        test::answers_to(*sut, {only_read("a red ball on a table")});
        return told(*sut).predictor.trained_keys == 1;
      }));
      const auto before = told(*sut);
      constexpr size_t requests = 48;
      for (size_t i = 0; i < requests; ++i) {
        const auto x =
          only_read("xylophone quartet number " + std::to_string(i));
        const auto drawn = test::answers_to(*sut, {x});
        BOOST_TEST(test::image_in(drawn.front()).route == "scratch");
      }
      const auto after = told(*sut);
      const auto searched =
        after.hits + after.misses - before.hits - before.misses;
      // A fiftieth starts from noise without a question.
      BOOST_TEST(after.predictor.said_misses - before.predictor.said_misses
                 >= requests - 8);
      BOOST_TEST(after.predictor.said_hits == before.predictor.said_hits);
      // Only the predicted misses that are searched for anyway.
      BOOST_TEST(searched < requests / 4);
      BOOST_TEST(after.predictor.checked - before.predictor.checked
                 == searched);
      const auto again = repeated(*sut, ball);
      BOOST_TEST(again.steps_run == test::recall_steps - test::recall_kept);
      BOOST_TEST(told(*sut).hits > after.hits);
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(measured_rates_reach_the_plan_and_the_profile) {
  auto sut = start_fast(mode::single, "nirvana-paper");
  test::answers_to(*sut, {wanted("a red ball on a table")});
  remembered(*sut);
  const std::vector<generation> same(16, only_read("a red ball on a table"));
  for (int i = 0; i < 20 && told(*sut).predictor.checked < 110; ++i)
    test::answers_to(*sut, same);
  const auto p = told(*sut).predictor;
  BOOST_TEST_REQUIRE(p.checked >= 110u);
  BOOST_TEST(p.precision.value() > 0.9);
  BOOST_TEST(p.recall.value() == 1.0);
  BOOST_TEST(test::eventually([&] {
               const auto text = reason(*sut);
               return text.find("recall 1.000 measured by ")
                   != std::string::npos;
             }),
             reason(*sut));
  const std::string profile = *sut->status().profiles.front().text;
  BOOST_TEST(profile.find("\"predictor\"") != std::string::npos, profile);
  BOOST_TEST(profile.find("\"recall\": 1") != std::string::npos, profile);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(outcomes_of_searches_train_the_default_predictor) {
  auto sut = start_fast(mode::single, "nirvana");
  test::answers_to(*sut, {wanted("a red ball on a table")});
  remembered(*sut);
  // It is not asked while that does not gain, but it learns and is checked.
  for (size_t i = 0; i < 60; ++i) {
    const auto number = std::to_string(i);
    test::answers_to(*sut, {only_read("a red ball on a table"),
                            only_read("xylophone quartet " + number)});
  }
  BOOST_TEST(
    test::eventually([&] { return told(*sut).predictor.trained_keys == 1; }));
  const auto p = told(*sut).predictor;
  BOOST_TEST(p.said_hits + p.said_misses == 0u);
  BOOST_TEST(p.checked == searches(*sut));
  BOOST_TEST(p.trainings > 1u);
  BOOST_TEST(p.recall.has_value());
  BOOST_TEST(p.false_alarms.has_value());
  BOOST_TEST(sut->stop(10s));
}

// One in sixteen predicted misses is searched for, and counts for all of them.
BOOST_AUTO_TEST_CASE(a_search_of_a_predicted_miss_stands_for_sixteen) {
  auto profile = test::with_reuse(0.5);
  // The predictor is worth asking if searches take long.
  profile.reuse->retrieval = 1s;
  folder.write("measured.json", planning::to_json(profile));
  auto sut = start_fast(mode::single, "nirvana");
  auto first = wanted("a red ball on a table");
  first.cache = "write";
  test::answers_to(*sut, {first});
  remembered(*sut);
  size_t number = 0;
  const auto ask = [&](const std::string& prompt) {
    test::answers_to(*sut, {only_read(prompt + std::to_string(++number))});
    return told(*sut).predictor;
  };
  // The first searches train nothing yet, and each counts as a predicted hit.
  constexpr uint64_t untrained = 31;
  while (told(*sut).predictor.checked < untrained)
    ask(number % 2 == 0 ? "a red ball on a table " : "xylophone quartet ");
  const auto before = told(*sut).predictor;
  BOOST_TEST_REQUIRE(before.trained_keys == 0u);
  BOOST_TEST_REQUIRE(before.false_alarms.value() == 1.0);
  const auto false_hits =
    std::round((1 - before.precision.value()) * untrained);
  BOOST_TEST_REQUIRE(false_hits > 5);
  while (told(*sut).predictor.checked == untrained)
    ask("a red ball on a table ");
  BOOST_TEST_REQUIRE(
    test::eventually([&] { return told(*sut).predictor.trained_keys == 1; }));
  BOOST_TEST_REQUIRE(test::eventually([&] {
                       return reason(*sut).find("asked, as it gains")
                           != std::string::npos;
                     }),
                     reason(*sut));
  const auto trained = told(*sut).predictor;
  auto after = trained;
  for (int i = 0; i < 500 && after.checked < trained.checked + 3; ++i)
    after = ask("xylophone quartet of ");
  const auto searched = static_cast<double>(after.checked - trained.checked);
  BOOST_TEST(searched == 3);
  BOOST_TEST_REQUIRE(after.said_hits == trained.said_hits);
  BOOST_TEST(std::abs(after.false_alarms.value()
                      - false_hits / (false_hits + 16 * searched))
             < 1e-9);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(policies_without_a_predictor_predict_nothing) {
  auto sut = start_fast(mode::single, "nirvana-no-predictor");
  const auto x = wanted("a red ball on a table");
  test::answers_to(*sut, {x});
  remembered(*sut);
  repeated(*sut, x);
  const auto p = told(*sut).predictor;
  BOOST_TEST(p.checked == 0u);
  BOOST_TEST(p.trainings == 0u);
  BOOST_TEST(!p.precision.has_value());
  BOOST_TEST(reason(*sut) == "");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
