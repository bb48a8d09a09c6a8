// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/minute_account.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(minute_account_test)

BOOST_AUTO_TEST_CASE(what_was_used_returns_within_a_minute) {
  minute_account sut;
  const core::time_point start{1h};
  BOOST_TEST((sut.wait(60, 60, start) == 0s));
  sut.use(60);
  const auto all = sut.wait(60, 60, start);
  BOOST_TEST((all >= 60s && all < 61s));
  BOOST_TEST((sut.wait(20, 60, start + 20s) == 0s));
  BOOST_TEST((sut.wait(21, 60, start + 20s) > 0s));
  BOOST_TEST((sut.wait(60, 60, start + 60s) == 0s));
}

BOOST_AUTO_TEST_CASE(another_limit_leaves_what_was_used) {
  minute_account sut;
  const core::time_point start{1h};
  sut.wait(10, 10, start);
  sut.use(10);
  BOOST_TEST((sut.wait(20, 30, start) == 0s));
  BOOST_TEST((sut.wait(21, 30, start) > 0s));
  BOOST_TEST((sut.wait(1, 5, start) > 60s));
}

BOOST_AUTO_TEST_CASE(what_is_given_back_can_be_used) {
  minute_account sut;
  const core::time_point start{1h};
  sut.wait(6, 10, start);
  sut.use(6);
  sut.use(4);
  sut.give_back(6);
  BOOST_TEST((sut.wait(6, 10, start) == 0s));
  sut.give_back(100);
  BOOST_TEST((sut.wait(10, 10, start) == 0s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
