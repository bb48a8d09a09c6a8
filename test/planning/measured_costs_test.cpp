// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
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
    x.ran(first, 100ms, 300ms);
  BOOST_TEST(!x.news());
  x.ran(first, 100ms, 300ms);
  const auto told = x.news();
  BOOST_TEST_REQUIRE(told.has_value());
  BOOST_TEST_REQUIRE(told->size() == 2u);
  BOOST_TEST(std::abs(told->at(0).pace - 3) < 1e-9);
  BOOST_TEST(told->at(1).pace == 0);
  BOOST_TEST(!x.news());
  // A neighbour's burst, shorter than half of what is kept.
  for (int i = 0; i < 2; ++i)
    x.ran(first, 100ms, 3s);
  BOOST_TEST(!x.news());
  for (int i = 0; i < 15; ++i)
    x.ran(first, 100ms, 330ms);
  BOOST_TEST(!x.news());
  for (int i = 0; i < 15; ++i)
    x.ran(first, 100ms, 3s);
  const auto slow = x.news();
  BOOST_TEST_REQUIRE(slow.has_value());
  BOOST_TEST(std::abs(slow->at(0).pace - 30) < 1e-9);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_compared_is_left_out) {
  measured_costs x{1};
  for (int i = 0; i < 9; ++i) {
    x.ran(first, 0ms, 300ms);
    x.ran(first, 100ms, 0ms);
  }
  BOOST_TEST(!x.news());
}

BOOST_AUTO_TEST_CASE(a_profile_takes_over_what_was_measured_and_no_more) {
  const auto known = test::three_variants();
  measured_costs x{known.variants.size()};
  for (int i = 0; i < 5; ++i) {
    x.ran(second, 100ms, 250ms);
    x.ended(second, 40ms, 70ms);
  }
  x.loaded(first, 8s);
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
  // Of the first one only the load is known.
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
  const auto now = with_costs(known, std::vector{c});
  BOOST_TEST((now.variants[0].load == 25s));
  BOOST_TEST((now.variants[0].loads == known.variants[0].loads));
}

BOOST_AUTO_TEST_SUITE_END()
