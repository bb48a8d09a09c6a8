// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/moving_deadline.hpp>

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;

namespace atelier::runtime::http::detail {

namespace {

using woken = moving_deadline::woken;

const core::time_point start{};

} // namespace

BOOST_AUTO_TEST_SUITE(moving_deadline_test)

BOOST_AUTO_TEST_CASE(timer_is_set_anew_only_for_an_earlier_moment) {
  moving_deadline sut;
  BOOST_TEST(sut.set(start + 10s));
  BOOST_TEST(!sut.set(start + 20s));
  BOOST_TEST((sut.timer_at() == start + 10s));
  BOOST_TEST(sut.set(start + 5s));
  BOOST_TEST((sut.timer_at() == start + 5s));
}

BOOST_AUTO_TEST_CASE(timer_that_wakes_early_waits_on) {
  moving_deadline sut;
  sut.set(start + 10s);
  sut.set(start + 20s);
  BOOST_TEST((sut.wake(start + 10s) == woken::early));
  BOOST_TEST((sut.timer_at() == start + 20s));
  BOOST_TEST((sut.wake(start + 20s) == woken::due));
}

BOOST_AUTO_TEST_CASE(cleared_moment_never_comes) {
  moving_deadline sut;
  sut.set(start + 10s);
  sut.clear();
  BOOST_TEST((sut.wake(start + 11s) == woken::idle));
  BOOST_TEST(sut.set(start + 20s));
}

BOOST_AUTO_TEST_CASE(after_the_moment_came_a_later_one_sets_the_timer) {
  moving_deadline sut;
  sut.set(start + 10s);
  BOOST_TEST((sut.wake(start + 10s) == woken::due));
  BOOST_TEST(sut.set(start + 30s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
