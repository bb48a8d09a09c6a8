// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/learning_rate.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(learning_rate)

BOOST_AUTO_TEST_CASE(it_rises_stays_and_falls_along_a_cosine) {
  const rate_plan plan{1e-3, 10, 0.5, 0.1};
  BOOST_TEST(rate_at(plan, 0, 0) == 1e-4, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(rate_at(plan, 9, 0) == 1e-3, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(rate_at(plan, 99, .5) == 1e-3, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(rate_at(plan, 99, .75) == 5.5e-4,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(rate_at(plan, 99, 1) == 1e-4, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(rate_at(plan, 99, 7) == 1e-4, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(without_a_warm_up_it_begins_at_its_highest) {
  BOOST_TEST(rate_at({2e-3, 0, 0, 0}, 0, 0) == 2e-3,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(an_average_forgets_its_beginning_sooner) {
  BOOST_TEST(average_decay_at(.999, 0) == .1);
  BOOST_TEST(average_decay_at(.999, 90) == .91);
  BOOST_TEST(average_decay_at(.999, 100'000) == .999);
}

BOOST_AUTO_TEST_CASE(a_pause_from_outside_is_no_work) {
  busy_clock sut{5};
  for (int i = 0; i < 10; ++i)
    sut.add(.5);
  sut.add(3600);
  BOOST_TEST(sut.seconds() == 10.5, boost::test_tools::tolerance(1e-9));
  sut.add(2);
  BOOST_TEST(sut.seconds() == 12.5, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()
