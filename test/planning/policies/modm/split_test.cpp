// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/modm/control.hpp>
#include <atelier/planning/policies/modm/split.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace atelier;
using namespace atelier::planning::modm;

namespace {

struct instance {
  uint32_t workers = 0;
  loads of;
  speeds at;
  window seen;
};

instance random_instance(core::philox& random) {
  instance x;
  x.workers = static_cast<uint32_t>(1 + random.below(24));
  x.at.large = 0.5 + random.uniform();
  x.at.small =
    x.at.large * (random.below(8) == 0 ? 0.5 : 1) * (1 + 10 * random.uniform());
  x.seen.hits = random.below(10) == 0 ? 0 : random.uniform();
  x.seen.left = 0.3 + 0.7 * random.uniform();
  x.seen.rate = x.workers * x.at.large * 2 * random.uniform();
  x.of = loads_of(x.seen);
  return x;
}

bool serves(const instance& x, uint32_t n) {
  const double spare = n * x.at.large - x.of.miss;
  return spare >= -1e-9 * (1 + x.of.miss)
      && spare + (x.workers - n) * x.at.small
           >= x.of.hit - 1e-9 * (1 + x.of.miss + x.of.hit);
}

} // namespace

BOOST_AUTO_TEST_SUITE(modm_split_test)

BOOST_AUTO_TEST_CASE(loads_are_full_runs) {
  const std::vector<uint32_t> skips{5, 25};
  const std::vector<double> shares{0.5, 0.5};
  const std::vector<double> none{0, 0};
  BOOST_TEST(mean_left(shares, skips, 50) == 0.7,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(mean_left(none, skips, 50) == 0.0);
  const auto l = loads_of({10, 0.7, 0.8});
  BOOST_TEST(l.miss == 3.0, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(l.hit == 5.6, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(quality_mode_equals_trying_every_split) {
  size_t feasible = 0;
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    auto random = test::random_of(i);
    const auto x = random_instance(random);
    std::optional<uint32_t> best;
    for (uint32_t n = 0; n <= x.workers; ++n)
      if (serves(x, n))
        best = n;
    const auto got = quality_split(x.workers, x.of, x.at);
    BOOST_REQUIRE_MESSAGE(
      got == best, "instance " << i << ": " << (got ? int(*got) : -1)
                               << " instead of " << (best ? int(*best) : -1));
    feasible += best ? 1u : 0u;
  }
  BOOST_TEST(feasible > 0u);
}

BOOST_AUTO_TEST_CASE(the_published_loop_ends_beside_the_optimum) {
  // All requests fit on large workers, and the published split has one too
  // many.
  BOOST_TEST(quality_split_published(4, {1, 1}, {1, 4}) == 5);
  // The least number does not serve the hits, and the published split has one
  // too few for the misses.
  BOOST_TEST(quality_split_published(4, {2, 20}, {1, 4}) == 1);
  BOOST_TEST(!quality_split(4, {2, 20}, {1, 4}).has_value());
  BOOST_TEST(quality_split_published(4, {9, 1}, {1, 4}) == 9);
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto x = random_instance(random);
    const auto exact = quality_split(x.workers, x.of, x.at);
    if (!exact || *exact == x.workers || x.at.small <= x.at.large)
      continue;
    const auto loop = quality_split_published(x.workers, x.of, x.at);
    BOOST_REQUIRE_MESSAGE(loop <= int64_t{*exact}, "instance " << i);
    BOOST_REQUIRE_MESSAGE(loop >= int64_t{*exact} - 1, "instance " << i);
  }
}

BOOST_AUTO_TEST_CASE(throughput_mode_is_never_below_the_rounded_ratio) {
  const size_t loops = test::scaled(100'000);
  size_t better = 0;
  double gain = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const auto x = random_instance(random);
    const auto ratio = throughput_split_published(x.workers, x.of, x.at);
    const auto whole = throughput_split(x.workers, x.of, x.at);
    BOOST_REQUIRE(ratio.has_value() == whole.has_value());
    if (!ratio)
      continue;
    BOOST_REQUIRE(*whole >= 1 && *whole <= x.workers);
    const auto rounded = static_cast<uint32_t>(
      std::clamp(std::round(*ratio), 1.0, static_cast<double>(x.workers)));
    const double ours = served_multiple(*whole, x.workers - *whole, x.of, x.at);
    const double paper =
      served_multiple(rounded, x.workers - rounded, x.of, x.at);
    BOOST_REQUIRE_MESSAGE(ours >= paper - 1e-9, "instance " << i);
    if (ours > paper * (1 + 1e-9)) {
      ++better;
      gain += paper > 0 ? std::min(ours / paper, 10.0) - 1 : 1;
    }
    // No other split is better.
    for (uint32_t n = 1; n <= x.workers; ++n)
      BOOST_REQUIRE_MESSAGE(served_multiple(n, x.workers - n, x.of, x.at)
                              <= ours + 1e-9,
                            "instance " << i << ", split " << n);
  }
  BOOST_TEST_MESSAGE("the whole split serves more in "
                     << better << " of " << loops << ", by a mean of "
                     << 100 * gain
                          / static_cast<double>(std::max<size_t>(better, 1))
                     << " % (at most 900)");
  BOOST_TEST(better > 0u);
}

BOOST_AUTO_TEST_CASE(rounding_the_ratio_can_leave_no_small_worker) {
  // N = 4, H = .4, F = .6, P_l / P_s = .08: 3.88.
  const auto l = loads_of({1, 0.4, 0.6});
  const speeds at{0.08, 1};
  BOOST_TEST(throughput_split_published(4, l, at).value() == 3.876,
             boost::test_tools::tolerance(1e-3));
  BOOST_TEST(throughput_split(4, l, at).value() == 3u);
  // Without hits all workers are large. At least one is always large.
  BOOST_TEST(throughput_split(4, {1, 0}, at).value() == 4u);
  BOOST_TEST(throughput_split(4, {0, 1}, at).value() == 1u);
  BOOST_TEST(throughput_split(1, {1, 1}, at).value() == 1u);
  BOOST_TEST(!throughput_split(4, {0, 0}, at).has_value());
}

BOOST_AUTO_TEST_CASE(the_controller_has_the_published_sequence) {
  pid_state s{16, 0, 0};
  for (const double expected : {9.87, 7.37, 6.40, 6.23, 6.41}) {
    s = with_step(s, 8, 3);
    BOOST_TEST(std::abs(s.x - expected) < 0.005);
  }
}

BOOST_AUTO_TEST_CASE(the_bounded_controller_stays_inside_and_recovers) {
  pid_state bounded{16, 0, 0};
  pid_state free = bounded;
  // The target cannot be passed for an hour.
  for (size_t i = 0; i < 20; ++i) {
    bounded = with_step(bounded, 16, 3, 16);
    free = with_step(free, 30, 3);
    BOOST_TEST((bounded.x >= 1 && bounded.x <= 16));
  }
  for (size_t i = 0; i < 20; ++i) {
    bounded = with_step(bounded, 30, 3, 16);
    BOOST_TEST(bounded.x == 16.0);
  }
  BOOST_TEST(bounded.integral == 0.0);
  // The accumulated sum does not delay the first step down.
  bounded = with_step(bounded, 4, 3, 16);
  BOOST_TEST(bounded.x < 12.0);
  BOOST_TEST(large_workers({-3, 0, 0}, 16) == 1u);
  BOOST_TEST(large_workers({99, 0, 0}, 16) == 16u);
  BOOST_TEST(large_workers({9, 0, 0}, 0) == 0u);
}

BOOST_AUTO_TEST_CASE(the_controller_is_as_quick_however_often_it_is_called) {
  // The target jumps from 16 to 6 and then stays there, with noise. The
  // controller steps every second, every five, every minute, and every quarter
  // of an hour.
  std::vector<double> ends;
  for (const double seconds : {1.0, 5.0, 60.0, 900.0}) {
    auto random = test::random_of(3);
    pid_state s{16, 0, 0};
    double least = 16;
    double before = 16;
    double largest_step = 0;
    for (double t = 0; t < 3600; t += seconds) {
      const double off = seconds < 100 ? 2 : 0;
      const double target = 6 + (random.uniform() < 0.5 ? -off : off);
      s = with_step(s, target, seconds / 60);
      least = std::min(least, s.x);
      if (seconds < 10)
        largest_step = std::max(largest_step, std::abs(s.x - before));
      before = s.x;
    }
    BOOST_TEST(std::abs(s.x - 6) < 2.5, seconds << " s: " << s.x);
    BOOST_TEST(least > 1.0, seconds << " s: " << least);
    BOOST_TEST(largest_step < 0.5, seconds << " s: " << largest_step);
  }
  // A step of no time changes nothing.
  BOOST_TEST((with_step({16, 3, 2}, 4, 0) == pid_state{16, 3, 2}));
}

BOOST_AUTO_TEST_CASE(another_small_model_moves_the_controller_without_a_bump) {
  pid_state s{9, 40, -6};
  s = without_bump(s, 4);
  BOOST_TEST(s.x == 9.0);
  BOOST_TEST(s.integral == 0.0);
  // The new error has no slope, and nothing remains of the old sum.
  const auto after = with_step(s, 4, 0.1);
  BOOST_TEST(after.x == 9 - 0.1 / 3 * (0.6 * 5 + 0.05 * 0.5),
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(changes_must_pay_for_their_switches) {
  BOOST_TEST(settled(8, 6, 1, 60, 10, 0.5) == 6u);
  BOOST_TEST(settled(8, 6, 0.1, 60, 10, 0.5) == 8u);
  BOOST_TEST(settled(8, 8, 1, 60, 10, 0.5) == 8u);
}

BOOST_AUTO_TEST_CASE(splits_start_large_and_keep_still_without_requests) {
  const std::vector<small_model> smalls{{4, 1}};
  split_memory memory;
  const auto first = plan_split(16, 1, smalls, {0, 0, 1}, memory, {});
  BOOST_TEST(first.large == 16u);
  BOOST_TEST(first.memory.started);
  memory.started = true;
  memory.pid.x = 7;
  BOOST_TEST(plan_split(16, 1, smalls, {0, 0, 1}, memory, {}).large == 7u);
  BOOST_TEST(plan_split(16, 1, {}, {9, 0.5, 1}, memory, {}).large == 16u);
  BOOST_TEST(plan_split(0, 1, smalls, {9, 0.5, 1}, memory, {}).large == 0u);
}

BOOST_AUTO_TEST_CASE(each_mode_finds_its_split) {
  const std::vector<small_model> smalls{{4, 1}};
  split_rules rules;
  rules.use_pid = false;
  rules.used = 1;
  rules.mode = mode_rule::throughput;
  // With misses of 4 and hits of 8, 4 large and 2 small of 6 workers serve them
  // exactly.
  const window seen{12, 2.0 / 3, 1};
  BOOST_TEST(plan_split(6, 1, smalls, seen, {}, rules).large == 4u);
  rules.mode = mode_rule::quality;
  const auto quality = plan_split(9, 1, smalls, seen, {}, rules);
  // n + 4 (9 - n) >= 12: n = 8, and 8 >= 4.
  BOOST_TEST(quality.large == 8u);
  BOOST_TEST((quality.mode == serve_mode::quality));
  BOOST_TEST(!quality.saturated);
  rules.mode = mode_rule::automatic;
  BOOST_TEST(
    (plan_split(9, 1, smalls, seen, {}, rules).mode == serve_mode::quality));
  const auto tight = plan_split(4, 1, smalls, seen, {}, rules);
  BOOST_TEST((tight.mode == serve_mode::throughput));
  BOOST_TEST(tight.saturated);
  rules.as_published = true;
  rules.mode = mode_rule::quality;
  BOOST_TEST(plan_split(9, 1, smalls, seen, {}, rules).large <= 9u);
}

BOOST_AUTO_TEST_CASE(faster_small_models_come_at_once_and_go_slowly) {
  const std::vector<small_model> smalls{{2, 1}, {8, 1}};
  split_rules rules;
  rules.mode = mode_rule::automatic;
  rules.use_pid = false;
  rules.used = 1;
  split_memory memory;
  const auto step = [&](double rate) {
    const auto p = plan_split(8, 1, smalls, {rate, 0.75, 1}, memory, rules);
    memory = p.memory;
    return p.small;
  };
  BOOST_TEST(step(8) == 0u);
  // Hits of 15 of 20 need 7.5 slow or 1.9 fast workers; misses need 5.
  BOOST_TEST(step(20) == 1u);
  BOOST_TEST(step(8) == 1u);
  BOOST_TEST(step(20) == 1u);
  BOOST_TEST(step(8) == 1u);
  BOOST_TEST(step(8) == 0u);
  // Above the capacity of all of them the fastest stays.
  BOOST_TEST(step(500) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
