// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/diffserve/leg.hpp>
#include <atelier/planning/policies/diffserve/queueing.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

using namespace atelier;
using namespace atelier::planning::diffserve;

BOOST_AUTO_TEST_SUITE(diffserve_queueing_test)

BOOST_AUTO_TEST_CASE(batches_between_the_profiled_ones_are_linear) {
  leg_times l;
  l.batches = {{2, 1}, {4, 3}, {8, 4}};
  BOOST_TEST(batch_seconds(l, 1) == 0.5);
  BOOST_TEST(batch_seconds(l, 2) == 1.0);
  BOOST_TEST(batch_seconds(l, 3) == 2.0);
  BOOST_TEST(batch_seconds(l, 6) == 3.5);
  BOOST_TEST(batch_seconds(l, 16) == 8.0);
  BOOST_TEST(throughput(l, 8) == 2.0);
  BOOST_TEST(best_batch_within(l, 3.5) == 2u);
  BOOST_TEST(best_batch_within(l, 4) == 2u);
  BOOST_TEST(best_batch_within(l, 0.9) == 0u);
}

BOOST_AUTO_TEST_CASE(waits_are_littles) {
  BOOST_TEST(waiting_seconds(10, 5, 2, 1) == 2.0);
  BOOST_TEST(waiting_seconds(0, 0, 2, 1) == 0.0);
  BOOST_TEST(waiting_seconds(6, 0, 2, 1.5) == 2.0);
  BOOST_TEST(std::isinf(waiting_seconds(6, 0, 0, 1.5)));
}

BOOST_AUTO_TEST_CASE(jumps_are_large_in_share_and_in_deviations) {
  BOOST_TEST(!demand_jumped(120, 100));
  BOOST_TEST(!demand_jumped(126, 100));
  BOOST_TEST(demand_jumped(131, 100));
  BOOST_TEST(demand_jumped(60, 100));
  BOOST_TEST(!demand_jumped(4, 1));
  BOOST_TEST(demand_jumped(5, 1));
  BOOST_TEST(demand_jumped(1, 0));
}

BOOST_AUTO_TEST_CASE(trial_batches_grow_and_halve) {
  leg_times l;
  l.batches = {{1, 1}, {2, 1}, {4, 1}, {8, 1}};
  trial_batch t;
  for (const uint32_t expected : {2u, 4u, 8u, 8u}) {
    t = with_period(t, l, false);
    BOOST_TEST(t.batch == expected);
  }
  t = with_period(t, l, true);
  BOOST_TEST(t.batch == 4u);
  for (size_t i = 0; i < 5; ++i)
    t = with_period(t, l, true);
  BOOST_TEST(t.batch == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
