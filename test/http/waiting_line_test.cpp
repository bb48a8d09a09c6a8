// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/waiting_line.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace atelier::runtime::http::detail {

namespace {

const std::string ann = "ann";
const std::string ben = "ben";
const std::string cat = "cat";

} // namespace

BOOST_AUTO_TEST_SUITE(waiting_line_test)

BOOST_AUTO_TEST_CASE(higher_priority_goes_first_then_age) {
  waiting_line sut;
  sut.enter({ann, 1, 2});
  sut.enter({ann, 1, 1});
  sut.enter({ann, 2, 3});
  BOOST_TEST(sut.position({ann, 2, 3}) == 1u);
  BOOST_TEST(sut.position({ann, 1, 1}) == 2u);
  BOOST_TEST(sut.position({ann, 1, 2}) == 3u);
}

BOOST_AUTO_TEST_CASE(who_leaves_moves_the_others_up_and_has_no_place) {
  waiting_line sut;
  sut.enter({ann, 1, 1});
  sut.enter({ann, 1, 2});
  sut.leave({ann, 1, 1});
  BOOST_TEST(sut.position({ann, 1, 1}) == 0u);
  BOOST_TEST(sut.position({ann, 1, 2}) == 1u);
  BOOST_TEST(sut.size() == 1u);
}

BOOST_AUTO_TEST_CASE(who_does_not_wait_may_leave) {
  waiting_line sut;
  sut.enter({ann, 1, 2});
  sut.leave({ann, 1, 1});
  sut.leave({ann, 1, 3});
  sut.leave({ann, 2, 2});
  sut.leave({ben, 1, 2});
  BOOST_TEST(sut.size() == 1u);
  BOOST_TEST(sut.position({ben, 1, 2}) == 0u);
  sut.leave({ann, 1, 2});
  BOOST_TEST(sut.size() == 0u);
  BOOST_TEST(sut.position({ann, 1, 2}) == 0u);
}

BOOST_AUTO_TEST_CASE(owners_take_turns) {
  waiting_line sut;
  for (uint64_t i = 1; i <= 300; ++i)
    sut.enter({ann, 2, i});
  sut.enter({ben, 0, 301});
  sut.enter({cat, 1, 302});
  sut.enter({cat, 1, 303});
  BOOST_TEST(sut.position({ann, 2, 1}) == 1u);
  BOOST_TEST(sut.position({ben, 0, 301}) == 2u);
  BOOST_TEST(sut.position({cat, 1, 302}) == 3u);
  BOOST_TEST(sut.position({ann, 2, 2}) == 4u);
  BOOST_TEST(sut.position({cat, 1, 303}) == 5u);
  BOOST_TEST(sut.position({ann, 2, 3}) == 6u);
  BOOST_TEST(sut.position({ann, 2, 300}) == 303u);
}

BOOST_AUTO_TEST_CASE(a_job_of_many_images_takes_many_turns) {
  waiting_line sut;
  sut.enter({ann, 1, 1, 3});
  sut.enter({ann, 1, 2});
  for (uint64_t i = 3; i <= 7; ++i)
    sut.enter({ben, 1, i});
  BOOST_TEST(sut.position({ann, 1, 1, 3}) == 1u);
  BOOST_TEST(sut.position({ben, 1, 3}) == 2u);
  BOOST_TEST(sut.position({ben, 1, 5}) == 4u);
  BOOST_TEST(sut.position({ann, 1, 2}) == 5u);
  BOOST_TEST(sut.position({ben, 1, 6}) == 6u);
  sut.leave({ann, 1, 1, 3});
  BOOST_TEST(sut.position({ann, 1, 2}) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
