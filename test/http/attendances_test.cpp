// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/attendances.hpp>

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;

namespace atelier::runtime::http::detail {

namespace {

const core::time_point start{};

} // namespace

BOOST_AUTO_TEST_SUITE(attendances_test)

BOOST_AUTO_TEST_CASE(only_the_last_client_of_a_job_leaves_it) {
  attendances sut;
  sut.come(1);
  sut.come(1);
  BOOST_TEST(!sut.leave(1));
  BOOST_TEST(sut.leave(1));
  BOOST_TEST(!sut.leave(1));
  BOOST_TEST(!sut.leave(2));
}

BOOST_AUTO_TEST_CASE(job_is_given_up_after_the_pause_oldest_first) {
  attendances sut;
  for (const auto job : {2u, 1u, 3u}) {
    sut.come(job);
    sut.leave(job);
  }
  sut.may_return(2, start);
  sut.may_return(1, start + 1s);
  BOOST_TEST(sut.given_up(start + 9s, 10s).empty());
  BOOST_TEST(sut.given_up(start + 10s, 10s) == std::vector<uint64_t>{2},
             boost::test_tools::per_element());
  BOOST_TEST(sut.given_up(start + 11s, 10s) == (std::vector<uint64_t>{1, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_comes_again_in_time_keeps_the_job) {
  attendances sut;
  sut.come(1);
  sut.leave(1);
  sut.may_return(1, start);
  sut.come(1);
  BOOST_TEST(sut.given_up(start + 1h, 10s).empty());
  BOOST_TEST(sut.leave(1));
}

BOOST_AUTO_TEST_CASE(job_that_ended_is_not_given_up) {
  attendances sut;
  sut.come(1);
  sut.leave(1);
  sut.may_return(1, start);
  sut.end(1);
  BOOST_TEST(sut.given_up(start + 1h, 10s).empty());
  sut.come(2);
  sut.end(2);
  BOOST_TEST(!sut.leave(2));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
