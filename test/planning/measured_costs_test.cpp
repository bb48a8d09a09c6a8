// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/measured_costs.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

constexpr core::variant_id first{0};
constexpr core::variant_id second{1};

} // namespace

BOOST_AUTO_TEST_SUITE(measured_costs_test)

BOOST_AUTO_TEST_CASE(a_few_runs_are_news_and_a_burst_is_none) {
  measured_costs x{2};
  BOOST_TEST(!x.news());
  for (int i = 0; i < 4; ++i)
    x.ran(first, "cpu", 100ms, 300ms);
  BOOST_TEST(!x.news());
  x.ran(first, "cpu", 100ms, 300ms);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST_REQUIRE(told->size() == 1u);
  BOOST_TEST(told->front().kind.empty());
  BOOST_TEST_REQUIRE(told->front().costs.size() == 2u);
  BOOST_TEST(std::abs(told->front().costs[0].pace - 3) < 1e-9);
  BOOST_TEST(told->front().costs[1].pace == 0);
  BOOST_TEST(!x.news());
  // The burst of a neighbour is shorter than half of the kept measurements.
  for (int i = 0; i < 2; ++i)
    x.ran(first, "cpu", 100ms, 3s);
  BOOST_TEST(!x.news());
  for (int i = 0; i < 15; ++i)
    x.ran(first, "cpu", 100ms, 330ms);
  BOOST_TEST(!x.news());
  for (int i = 0; i < 15; ++i)
    x.ran(first, "cpu", 100ms, 3s);
  const auto slow = x.news();
  BOOST_TEST_REQUIRE(slow.has_value());
  BOOST_TEST(std::abs(slow->front().costs[0].pace - 30) < 1e-9);
}

BOOST_AUTO_TEST_CASE(texts_that_were_encoded_before_are_no_news) {
  measured_costs x{1};
  const auto told = [&](core::timespan text, core::timespan decode) {
    for (int i = 0; i < 15; ++i)
      x.ended(first, "cpu", text, decode);
    return x.news().has_value();
  };
  BOOST_TEST(told(4ms, 150ms));
  BOOST_TEST(!told(100us, 150ms));
  BOOST_TEST(!told(4ms, 160ms));
  BOOST_TEST(told(4ms, 250ms));
  BOOST_TEST(told(80ms, 250ms));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_compared_is_left_out) {
  measured_costs x{1};
  for (int i = 0; i < 9; ++i) {
    x.ran(first, "cpu", 0ms, 300ms);
    x.ran(first, "cpu", 100ms, 0ms);
  }
  BOOST_TEST(!x.news());
}

BOOST_AUTO_TEST_CASE(a_profile_takes_over_what_was_measured_and_no_more) {
  const auto known = test::three_variants();
  measured_costs x{known.variants.size()};
  for (int i = 0; i < 5; ++i) {
    x.ran(second, "cpu", 100ms, 250ms);
    x.ended(second, "cpu", 40ms, 70ms);
  }
  x.loaded(first, "cpu", 8s);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  auto guessed = known;
  guessed.variants[0].guessed = guessed.variants[1].guessed = true;
  const auto now = with_costs(guessed, *told);
  for (size_t i = 0; i < known.variants[1].step.size(); ++i)
    BOOST_TEST(
      std::abs(core::to_seconds(now.variants[1].step[i].took)
               - 2.5 * core::to_seconds(known.variants[1].step[i].took))
      < 1e-6);
  BOOST_TEST((now.variants[1].text == 40ms));
  BOOST_TEST((now.variants[1].decode == 70ms));
  BOOST_TEST(!now.variants[1].guessed);
  // Only the load of the first variant is known.
  BOOST_TEST(now.variants[0].guessed);
  BOOST_TEST((now.variants[0].step == known.variants[0].step));
  BOOST_TEST((now.variants[0].load == 8s));
  BOOST_TEST((now.variants[2] == known.variants[2]));
}

BOOST_AUTO_TEST_CASE(a_measured_distribution_of_loads_stays) {
  auto known = test::three_variants();
  known.variants[0].loads = load_times{20s, 40s, 50s};
  known.variants[0].load = 25s;
  variant_cost c;
  c.load = 8s;
  const auto now = with_costs(known, std::vector{kind_costs{{}, {c}}});
  BOOST_TEST((now.variants[0].load == 25s));
  BOOST_TEST((now.variants[0].loads == known.variants[0].loads));
}

BOOST_AUTO_TEST_CASE(what_two_kinds_of_device_take_is_kept_apart) {
  measured_costs x{2};
  for (int i = 0; i < 5; ++i) {
    x.ran(first, "quick", 100ms, 100ms);
    x.ran(first, "slow", 100ms, 400ms);
  }
  x.loaded(second, "slow", 8s);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST_REQUIRE(told->size() == 3u);
  BOOST_TEST(told->at(0).kind.empty());
  BOOST_TEST(told->at(1).kind == "quick");
  BOOST_TEST(told->at(2).kind == "slow");
  BOOST_TEST(std::abs(told->at(1).costs[0].pace - 1) < 1e-9);
  BOOST_TEST(std::abs(told->at(2).costs[0].pace - 4) < 1e-9);
  BOOST_TEST((told->at(1).costs[1].load == 0s));
  BOOST_TEST((told->at(2).costs[1].load == 8s));
  // The times of both kinds alternate, which is not a change.
  for (int i = 0; i < 20; ++i)
    x.ran(first, "quick", 100ms, 100ms);
  BOOST_TEST(!x.news());
}

BOOST_AUTO_TEST_CASE(a_kind_that_the_profile_lacks_is_listed_once_it_is_known) {
  const auto known = test::three_variants();
  std::vector<kind_costs> told(3);
  told[0].costs.resize(3);
  told[0].costs[0].pace = 2;
  told[1] = {"quick", std::vector<variant_cost>(3)};
  told[2] = {"slow", std::vector<variant_cost>(3)};
  told[2].costs[0].pace = 4;
  told[2].costs[0].load = 9s;
  const auto now = with_costs(known, told);
  const auto took = [&](std::string_view kind, uint32_t v) {
    return on_kind(now, core::variant_id{v}, kind).step.front().took;
  };
  BOOST_TEST_REQUIRE(now.kinds.size() == 1u);
  BOOST_TEST((took("slow", 0) == 40ms));
  BOOST_TEST((load_on(now, first, "slow") == 9s));
  // Costs that were not measured there are those of the profile, and are not
  // more of a guess than before.
  BOOST_TEST((took("slow", 1) == 10ms));
  BOOST_TEST(!guessed_on(now, second, "slow"));
  // Nothing was measured on the quick devices by themselves.
  BOOST_TEST((took("quick", 0) == 20ms));
}

BOOST_AUTO_TEST_CASE(a_listed_kind_takes_over_what_was_measured_on_it) {
  auto known = test::three_variants();
  running_costs own = known.variants[0];
  own.step.front().took = 50ms;
  own.guessed = true;
  known.kinds.push_back({"slow", {own}, 0, {}, {}});
  std::vector<kind_costs> told{{{}, std::vector<variant_cost>(3)},
                               {"slow", std::vector<variant_cost>(3)}};
  told[0].costs[0].pace = 3;
  told[1].costs[0].pace = 2;
  const auto now = with_costs(known, told);
  const auto v = on_kind(now, first, "slow");
  BOOST_TEST((v.step.front().took == 100ms));
  BOOST_TEST(!v.guessed);
  // No measurement of other variants exists there, so the profile's value is a
  // guess.
  BOOST_TEST(guessed_on(now, second, "slow"));
  BOOST_TEST((now.variants[0].step.front().took == 30ms));
}

BOOST_AUTO_TEST_SUITE_END()
