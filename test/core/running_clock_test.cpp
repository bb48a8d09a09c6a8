// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/running_clock.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace atelier::core;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(running_clock_test)

BOOST_AUTO_TEST_CASE(it_begins_at_the_first_look_and_counts_short_gaps_whole) {
  running_clock sut{100ms};
  const time_point start{1h};
  BOOST_TEST((sut.look(start) == start));
  BOOST_TEST((sut.look(start + 100ms) == start + 100ms));
  BOOST_TEST((sut.look(start + 150ms) == start + 150ms));
  BOOST_TEST(!sut.take_pause());
}

BOOST_AUTO_TEST_CASE(a_long_gap_counts_as_the_longest_and_is_told_once) {
  running_clock sut{100ms};
  const time_point start{1h};
  sut.look(start);
  BOOST_TEST((sut.look(start + 60s) == start + 100ms));
  // Later looks do not hide it.
  BOOST_TEST((sut.look(start + 60s + 10ms) == start + 110ms));
  BOOST_TEST(sut.take_pause());
  BOOST_TEST(!sut.take_pause());
}

BOOST_AUTO_TEST_CASE(a_clock_set_back_takes_nothing_away) {
  running_clock sut{100ms};
  const time_point start{1h};
  sut.look(start);
  sut.look(start + 50ms);
  BOOST_TEST((sut.look(start - 30min) == start + 50ms));
  BOOST_TEST((sut.look(start - 30min + 20ms) == start + 70ms));
  BOOST_TEST(!sut.take_pause());
}

BOOST_AUTO_TEST_SUITE_END()
