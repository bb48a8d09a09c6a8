// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/vectors/detail/build_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <new>

BOOST_AUTO_TEST_SUITE(build_thread_test)

BOOST_AUTO_TEST_CASE(work_that_throws_ends_nothing_else) {
  atelier::index::detail::build_thread sut;
  int done = 0;
  sut.post([] { throw std::bad_alloc{}; });
  sut.post([&] { ++done; });
  sut.post([] { throw 7; });
  sut.post([&] { ++done; });
  sut.settle();
  BOOST_TEST(done == 2);
  BOOST_TEST(sut.post_if_idle([&] { ++done; }));
  sut.settle();
  BOOST_TEST(done == 3);
}

BOOST_AUTO_TEST_SUITE_END()
