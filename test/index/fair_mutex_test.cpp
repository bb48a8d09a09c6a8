// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/detail/fair_mutex.hpp>

#include <boost/test/unit_test.hpp>

#include <mutex>
#include <thread>
#include <vector>

using atelier::index::detail::fair_mutex;

BOOST_AUTO_TEST_SUITE(fair_mutex_test)

BOOST_AUTO_TEST_CASE(one_caller_holds_it_at_a_time) {
  fair_mutex sut;
  int count = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int n = 0; n < 500; ++n) {
        const std::lock_guard hold{sut};
        ++count;
      }
    });
  callers.clear();
  BOOST_TEST(count == 4 * 500);
}

// std::mutex may let the waiting thread starve here.
BOOST_AUTO_TEST_CASE(who_locks_it_again_lets_those_in_who_waited) {
  fair_mutex sut;
  for (int round = 0; round < 200; ++round) {
    sut.lock();
    bool was_in = false;
    const auto place = sut.queue();
    const std::jthread other{[&] {
      sut.await(place);
      was_in = true;
      sut.unlock();
    }};
    sut.unlock();
    const std::lock_guard again{sut};
    BOOST_TEST_REQUIRE(was_in);
  }
}

BOOST_AUTO_TEST_SUITE_END()
