// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/demand/estimators.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;

namespace {

std::vector<demand_window> windows(const std::vector<uint64_t>& arrived,
                                   int64_t seconds = 10) {
  std::vector<demand_window> out;
  for (const uint64_t n : arrived) {
    demand_window w;
    w.length = std::chrono::seconds{seconds};
    w.arrived = n;
    out.push_back(w);
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(estimators_test)

BOOST_AUTO_TEST_CASE(rates_weigh_the_newest_window_most) {
  BOOST_TEST(arrival_rate({}, 0.5) == 0.0);
  BOOST_TEST(arrival_rate(windows({20}), 0.5) == 2.0);
  // (0.5 x 4 + 0.25 x 2) / 0.75
  BOOST_TEST(arrival_rate(windows({20, 40}), 0.5) == 10.0 / 3,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(arrival_rate(windows({999, 10}), 1) == 1.0);
  auto with_hole = windows({20, 7});
  with_hole[1].length = core::timespan{0};
  BOOST_TEST(arrival_rate(with_hole, 0.5) == 2.0);
}

BOOST_AUTO_TEST_CASE(recent_windows_count_as_long_as_they_are_alike) {
  BOOST_TEST(recent_rate({}).rate == 0.0);
  BOOST_TEST(recent_rate(windows({20})).rate == 2.0);
  // The windows hardly differ, so the rate is the mean of all.
  BOOST_TEST(recent_rate(windows({101, 98, 100, 103, 99, 99})).rate == 10.0);
  // A jump up or down counts at once.
  BOOST_TEST(recent_rate(windows({100, 100, 100, 200})).rate == 20.0);
  BOOST_TEST(recent_rate(windows({100, 100, 100, 0})).rate == 0.0);
  // The last two windows agree, and the older two differ from them.
  BOOST_TEST(recent_rate(windows({10, 10, 100, 102})).rate == 10.1);
  // A steady load varies by as much by chance.
  BOOST_TEST(recent_rate(windows({20, 20, 20, 28})).rate == 2.2);
  BOOST_TEST(recent_rate(windows({20, 20, 20, 35})).rate == 3.5);
  BOOST_TEST(recent_rate(windows({20, 20, 20, 0})).rate == 0.0);
  BOOST_TEST(recent_rate(windows({20, 20, 20, 12})).rate == 1.8);
  // One empty window at two arrivals a window does not mean that the load has
  // ended.
  BOOST_TEST(recent_rate(windows({2, 2, 2, 0})).rate == 0.15);
  // 400 requests arrived in 40 seconds.
  BOOST_TEST(recent_rate(windows({100, 100, 100, 100})).deviation == 0.5);
  auto with_hole = windows({100, 7, 100});
  with_hole[1].length = core::timespan{0};
  BOOST_TEST(recent_rate(with_hole).rate == 10.0);
}

BOOST_AUTO_TEST_CASE(the_weight_of_a_centre_is_its_inverse) {
  BOOST_TEST(alpha_of_centre(2.1) == 1 / 3.1,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(alpha_of_centre(0) == 1.0);
}

BOOST_AUTO_TEST_CASE(a_moving_mean_starts_at_its_first_value) {
  auto m = with(moving_mean{}, 4, 0.1);
  BOOST_TEST(m.value == 4.0);
  m = with(m, 14, 0.1);
  BOOST_TEST(m.value == 5.0, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_slow_switch_wants_the_same_answer_running) {
  slow_switch s;
  s = with(s, true, 2);
  BOOST_TEST(!s.on);
  s = with(s, false, 2);
  s = with(s, true, 2);
  BOOST_TEST(!s.on);
  s = with(s, true, 2);
  BOOST_TEST(s.on);
  s = with(s, false, 2);
  BOOST_TEST(s.on);
  s = with(s, false, 2);
  BOOST_TEST(!s.on);
}

BOOST_AUTO_TEST_CASE(medians_of_few_values) {
  BOOST_TEST(median({}) == 0.0);
  BOOST_TEST(median({3}) == 3.0);
  BOOST_TEST(median({3, 1}) == 2.0);
  BOOST_TEST(median({9, 1, 5}) == 5.0);
  BOOST_TEST(median({9, 1, 5, 7}) == 6.0);
}

BOOST_AUTO_TEST_SUITE_END()
