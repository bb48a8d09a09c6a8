// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/argus/drift.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning::argus;

namespace {

size_t signals(drift_state& state, core::philox& random, size_t windows,
               double mean) {
  size_t n = 0;
  for (size_t i = 0; i < windows * 1000; ++i)
    n += note_score(state, mean + random.normal()) ? 1u : 0u;
  return n;
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_drift_test)

BOOST_AUTO_TEST_CASE(a_fall_is_told_once) {
  for (uint64_t i = 0; i < 20; ++i) {
    auto random = test::random_of(i);
    drift_state state;
    for (size_t w = 0; w < 8; ++w)
      state.medians.push_back(20);
    BOOST_TEST(signals(state, random, 1, 19.5) == 1u);
    // The next window and the windows compared with it raise no signal.
    BOOST_TEST(signals(state, random, 2, 19.5) <= 1u);
  }
}

BOOST_AUTO_TEST_CASE(stationary_scores_are_left_alone) {
  size_t told = 0;
  constexpr size_t runs = 20;
  constexpr size_t windows = 20;
  for (uint64_t i = 0; i < runs; ++i) {
    auto random = test::random_of(i);
    drift_state state;
    told += signals(state, random, windows, 20);
  }
  // Two standard errors on one side give 2.3 % of the windows. Without a margin
  // the share would be one half.
  BOOST_TEST(static_cast<double>(told) < 0.06 * runs * windows);
}

BOOST_AUTO_TEST_CASE(part_of_a_window_and_no_numbers_tell_nothing) {
  drift_state state;
  state.medians = {20};
  for (size_t i = 0; i < 999; ++i)
    BOOST_TEST(!note_score(state, 0));
  BOOST_TEST(!note_score(state, NAN));
  BOOST_TEST(state.scores.size() == 999u);
  BOOST_TEST(note_score(state, 0));
  BOOST_TEST(state.medians.empty());
}

BOOST_AUTO_TEST_CASE(the_error_of_a_median_shrinks_with_the_root) {
  BOOST_TEST(median_error({}) == 0.0);
  BOOST_TEST(median_error({1}) == 0.0);
  std::vector<double> few;
  std::vector<double> many;
  auto random = test::random_of(0);
  for (size_t i = 0; i < 40'000; ++i) {
    many.push_back(random.normal());
    if (i < 400)
      few.push_back(many.back());
  }
  BOOST_TEST(median_error(few) / median_error(many) == 10.0,
             boost::test_tools::tolerance(0.2));
}

BOOST_AUTO_TEST_SUITE_END()
