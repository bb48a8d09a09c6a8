// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/training/program/reuse_study/paired.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::reuse_study;

BOOST_AUTO_TEST_SUITE(paired_test, *boost::unit_test::tolerance(1e-4))

BOOST_AUTO_TEST_CASE(without_pairs_there_is_no_difference) {
  const auto x = difference_of({});
  BOOST_TEST(x.pairs == 0u);
  BOOST_TEST(!x.half);
  BOOST_TEST(!x.is_above());
  BOOST_TEST(!x.is_below());
}

BOOST_AUTO_TEST_CASE(the_interval_is_that_of_the_differences) {
  const std::vector<pair_of_values> all{
    {1, 0, 0}, {1, 0, 1}, {0, 0, 2}, {1, 1, 3}};
  const auto x = difference_of(all);
  BOOST_TEST(x.pairs == 4u);
  BOOST_TEST(x.mean == 0.5);
  BOOST_TEST_REQUIRE(x.half.has_value());
  // 1.96 times the deviation, 0.57735, by the root of 4.
  BOOST_TEST(*x.half == 0.565790);
  BOOST_TEST(!x.is_above());
}

BOOST_AUTO_TEST_CASE(pairs_of_a_group_count_as_one_fact) {
  const std::vector<pair_of_values> all{
    {1, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 1, 1}};
  const auto x = difference_of(all);
  BOOST_TEST_REQUIRE(x.half.has_value());
  // Sums of deviations are 1 and -1.
  BOOST_TEST(*x.half == 0.979982);
}

BOOST_AUTO_TEST_CASE(one_group_says_nothing_of_chance) {
  const std::vector<pair_of_values> all{{1, 0, 7}, {1, 0, 7}, {0, 1, 7}};
  const auto x = difference_of(all);
  BOOST_TEST(x.mean == 1.0 / 3);
  BOOST_TEST(!x.half);
  BOOST_TEST(!x.is_above());
}

BOOST_AUTO_TEST_CASE(a_clear_difference_has_a_side) {
  std::vector<pair_of_values> all;
  for (uint64_t i = 0; i < 20; ++i)
    all.push_back({1 + 0.01 * static_cast<double>(i), 0, i});
  BOOST_TEST(difference_of(all).is_above());
  for (auto& x : all)
    std::swap(x.a, x.b);
  BOOST_TEST(difference_of(all).is_below());
}

// Where the true difference is 0 and the pairs of a group share half of their
// chance, the interval misses it one time in twenty. One that took all pairs as
// independent would miss it about twice as often.
BOOST_AUTO_TEST_CASE(the_interval_misses_the_truth_one_time_in_twenty) {
  constexpr int studies = 1000;
  constexpr uint64_t groups = 80;
  core::philox random{test::seed(), core::purpose::test};
  int missed = 0;
  for (int i = 0; i < studies; ++i) {
    std::vector<pair_of_values> all;
    for (uint64_t g = 0; g < groups; ++g) {
      const auto shared = random.normal();
      for (int k = 0; k < 4; ++k)
        all.push_back({shared + random.normal(), 0, g});
    }
    const auto x = difference_of(all);
    missed += x.is_above() || x.is_below() ? 1 : 0;
  }
  BOOST_TEST(missed > studies / 50);
  BOOST_TEST(missed < studies / 11);
}

BOOST_AUTO_TEST_SUITE_END()
