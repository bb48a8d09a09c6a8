// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/waiting_line.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

BOOST_AUTO_TEST_SUITE(waiting_line_test)

BOOST_AUTO_TEST_CASE(higher_priority_goes_first_then_age) {
  waiting_line sut;
  sut.enter(1, 2);
  sut.enter(1, 1);
  sut.enter(2, 3);
  BOOST_TEST(sut.position(2, 3) == 1u);
  BOOST_TEST(sut.position(1, 1) == 2u);
  BOOST_TEST(sut.position(1, 2) == 3u);
}

BOOST_AUTO_TEST_CASE(who_leaves_moves_the_others_up_and_has_no_place) {
  waiting_line sut;
  sut.enter(1, 1);
  sut.enter(1, 2);
  sut.leave(1, 1);
  BOOST_TEST(sut.position(1, 1) == 0u);
  BOOST_TEST(sut.position(1, 2) == 1u);
  BOOST_TEST(sut.size() == 1u);
}

BOOST_AUTO_TEST_CASE(who_does_not_wait_may_leave) {
  waiting_line sut;
  sut.enter(1, 2);
  sut.leave(1, 1);
  sut.leave(1, 3);
  sut.leave(2, 2);
  BOOST_TEST(sut.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
