// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/modm/settled.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::modm;
using test::at_s;

namespace {

// Large workers draw one image a second, small ones four. All hits run half of
// the steps.
settled_split split_at(double rate, double hits, const settled_memory& before,
                       int64_t now_s, double load_seconds = 10) {
  hit_counts seen;
  seen.arrived = 1000;
  seen.hits = 1000 * hits;
  seen.left = seen.hits / 2;
  const std::vector<small_choice> smalls{{{4, 0.5}, load_seconds},
                                         {{16, 0.5}, load_seconds}};
  return plan_settled(16, 1, load_seconds, smalls, seen, rate, before,
                      at_s(now_s));
}

} // namespace

BOOST_AUTO_TEST_SUITE(modm_settled_test)

BOOST_AUTO_TEST_CASE(hits_fade_with_time_and_are_counted_once) {
  demand_window w;
  w.begin = at_s(0);
  w.length = std::chrono::seconds{10};
  w.arrived = 20;
  w.skips = {{25, 10}, {10, 5}};
  std::vector<demand_window> all{w};
  auto counts = modm::with({}, all, 50);
  BOOST_TEST(counts.arrived == 20.0);
  BOOST_TEST(counts.hits == 15.0);
  BOOST_TEST(counts.at(3).hits == 0.75);
  BOOST_TEST(counts.at(3).left == (10 * 0.5 + 5 * 0.8) / 15,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST((modm::with(counts, all, 50) == counts));
  demand_window silent;
  silent.begin = at_s(10);
  silent.length = std::chrono::seconds{1200};
  all.push_back(silent);
  counts = modm::with(counts, all, 50);
  BOOST_TEST(counts.arrived == 20 * std::exp(-1.0),
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_split_that_serves_stays_and_one_that_does_not_goes) {
  // At 14 a second, all workers are large, at .75 of their capacity.
  auto x = split_at(14, 0.8, {}, 0);
  BOOST_TEST(x.large == 16u);
  // At 30 a second there are 6 misses, and hits that need 12 full runs. At .9
  // of the capacity 13 large workers suffice.
  x = split_at(30, 0.8, x.memory, 5);
  BOOST_TEST(x.large < 16u);
  BOOST_TEST((x.mode == serve_mode::quality));
  BOOST_TEST(!x.saturated);
  const auto down = x.large;
  // A slightly different load changes nothing.
  for (int64_t t = 10; t < 1000; t += 5) {
    x = split_at(t % 2 == 0 ? 29 : 31, 0.8, x.memory, t);
    BOOST_TEST(x.large == down);
  }
}

BOOST_AUTO_TEST_CASE(more_large_workers_come_when_they_did_long_enough) {
  auto x = split_at(30, 0.8, {}, 0);
  const auto down = x.large;
  BOOST_TEST(down < 16u);
  int64_t t = 5;
  for (; t < 1800; t += 5) {
    x = split_at(14, 0.8, x.memory, t);
    BOOST_TEST(x.large == down);
  }
  x = split_at(14, 0.8, x.memory, t);
  BOOST_TEST(x.large == 16u);
  // The policy waits before a load that takes longer to pay off.
  auto dear = split_at(30, 0.8, {}, 0, 200);
  for (t = 5; t < 3900; t += 5)
    dear = split_at(14, 0.8, dear.memory, t, 200);
  BOOST_TEST(dear.large == down);
  for (; t < 4100; t += 5)
    dear = split_at(14, 0.8, dear.memory, t, 200);
  BOOST_TEST(dear.large == 16u);
}

BOOST_AUTO_TEST_CASE(the_faster_small_model_comes_at_once_and_goes_slowly) {
  auto x = split_at(14, 0.9, {}, 0);
  BOOST_TEST(x.small == 0u);
  // Hits of 54 full runs are too many for 4 a second each beside the misses.
  x = split_at(120, 0.9, x.memory, 5);
  BOOST_TEST(x.small == 1u);
  x = split_at(14, 0.9, x.memory, 10);
  BOOST_TEST(x.small == 1u);
  for (int64_t t = 15; t <= 2000; t += 5)
    x = split_at(14, 0.9, x.memory, t);
  BOOST_TEST(x.small == 0u);
}

BOOST_AUTO_TEST_CASE(overload_takes_the_split_that_serves_the_most) {
  const auto x = split_at(400, 0.9, {}, 0);
  BOOST_TEST(x.saturated);
  BOOST_TEST((x.mode == serve_mode::throughput));
  // n workers draw 40 misses. 180 hits are drawn by 16 (16 - n) and by the rest
  // of the n workers.
  BOOST_TEST(x.large >= 3u);
  BOOST_TEST(x.large <= 14u);
}

BOOST_AUTO_TEST_CASE(too_few_requests_move_nobody) {
  hit_counts few;
  few.arrived = 10;
  few.hits = 10;
  const std::vector<small_choice> smalls{{{4, 0.5}, 10}};
  const auto x = plan_settled(16, 1, 10, smalls, few, 60, {}, at_s(5));
  BOOST_TEST(x.large == 16u);
  BOOST_TEST(plan_settled(16, 1, 10, {}, few, 60, {}, at_s(5)).large == 16u);
  BOOST_TEST(plan_settled(0, 1, 10, smalls, few, 60, {}, at_s(5)).large == 0u);
}

BOOST_AUTO_TEST_CASE(workers_that_join_one_by_one_are_all_large) {
  const std::vector<small_choice> smalls{{{4, 0.5}, 10}};
  settled_split x;
  for (uint32_t workers = 1; workers <= 16; ++workers) {
    x = plan_settled(workers, 1, 10, smalls, {}, 0, x.memory, at_s(workers));
    BOOST_TEST(x.large == workers);
  }
  // One worker dies and returns.
  x = plan_settled(15, 1, 10, smalls, {}, 0, x.memory, at_s(20));
  BOOST_TEST(x.large == 15u);
  x = plan_settled(16, 1, 10, smalls, {}, 0, x.memory, at_s(21));
  BOOST_TEST(x.large == 16u);
}

BOOST_AUTO_TEST_SUITE_END()
