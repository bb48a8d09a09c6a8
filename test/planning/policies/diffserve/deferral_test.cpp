// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/diffserve/cascades.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning::diffserve;

namespace {

// Counts a confidence as the scheduler does.
void count(deferral_counts& into, double confidence) {
  constexpr double noise = 1e-9;
  into.bins.at(static_cast<size_t>(confidence * (thresholds - 1) + noise)) += 1;
}

} // namespace

BOOST_AUTO_TEST_SUITE(diffserve_deferral_test)

BOOST_AUTO_TEST_CASE(nothing_known_defers_everything_above_zero) {
  const auto f = blended(nullptr, {});
  BOOST_TEST(f[0] == 0.0);
  BOOST_TEST(f[1] == 1.0);
  BOOST_TEST((f == unknown_deferral()));
}

BOOST_AUTO_TEST_CASE(points_are_steps_that_never_fall) {
  const auto f = deferral_of({{0.5, 0.4}, {0.25, 0.6}, {0.75, 2}});
  BOOST_TEST(f[0] == 0.0);
  BOOST_TEST(f[49] == 0.0);
  BOOST_TEST(f[50] == 0.6);
  BOOST_TEST(f[100] == 0.6);
  BOOST_TEST(f[149] == 0.6);
  BOOST_TEST(f[150] == 1.0);
  BOOST_TEST(deferral_of({})[200] == 0.0);
  BOOST_TEST(deferral_of({{0, 0.5}})[0] == 0.0);
}

BOOST_AUTO_TEST_CASE(scores_below_a_threshold_are_deferred_at_it) {
  deferral_counts counts;
  for (const double c : {0.0, 0.005, 0.1, 1.0})
    count(counts, c);
  const auto f = blended(nullptr, counts);
  BOOST_TEST(f[0] == 0.0);
  // 0.005 is not below the threshold 0.005, so it is kept.
  BOOST_TEST(f[1] == 0.25);
  BOOST_TEST(f[2] == 0.5);
  BOOST_TEST(f[20] == 0.5);
  BOOST_TEST(f[21] == 0.75);
  BOOST_TEST(f[200] == 0.75);
}

BOOST_AUTO_TEST_CASE(the_table_weighs_two_hundred_scores) {
  const auto table = deferral_of({{0.5, 1}});
  deferral_counts counts;
  for (size_t i = 0; i < 200; ++i)
    count(counts, 0.25);
  BOOST_TEST(blended(&table, counts)[75] == 0.5);
  fade(counts);
  BOOST_TEST(blended(&table, counts)[75] == 1.0 / 3,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST((blended(&table, {}) == table));
}

BOOST_AUTO_TEST_CASE(thresholds_are_found_by_their_share) {
  const auto f = deferral_of({{0.25, 0.25}, {0.5, 0.5}, {0.75, 1}});
  BOOST_TEST(highest_within(f, 1) == 200u);
  BOOST_TEST(lowest_equal(f, 200) == 150u);
  BOOST_TEST(highest_within(f, 0.6) == 149u);
  BOOST_TEST(highest_within(f, 0.5) == 149u);
  BOOST_TEST(highest_within(f, 0.1) == 49u);
  BOOST_TEST(lowest_equal(f, 49) == 0u);
}

BOOST_AUTO_TEST_CASE(drawn_confidences_have_the_profile) {
  auto random = test::random_of(0);
  const auto f = test::random_deferral(random);
  deferral_counts counts;
  for (size_t i = 0; i < 20'000; ++i)
    count(counts, confidence_at(f, random.uniform()));
  const auto seen = blended(nullptr, counts);
  for (size_t k = 0; k < thresholds; ++k)
    BOOST_TEST(std::abs(seen[k] - f[k]) < 0.03);
}

BOOST_AUTO_TEST_CASE(qualities_are_linear_between_measurements) {
  const quality_table fid{{0, 18}, {0.5, 16}, {1, 22}};
  BOOST_TEST(quality_at(fid, -1) == 18.0);
  BOOST_TEST(quality_at(fid, 0.25) == 17.0);
  BOOST_TEST(quality_at(fid, 0.75) == 19.0);
  BOOST_TEST(quality_at(fid, 2) == 22.0);
  BOOST_TEST(quality_at({}, 0) == 0.0);
  BOOST_TEST(best_light_share(fid) == 0.5);
  BOOST_TEST(random_quality_at(fid, 0.5) == 20.0);
}

BOOST_AUTO_TEST_SUITE_END()
