// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/batch_queue.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <stdexcept>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(batch_queue_of_numbers)

BOOST_AUTO_TEST_CASE(batches_come_in_order_with_any_number_of_threads) {
  for (const size_t threads : {0u, 1u, 2u, 5u}) {
    batch_queue<uint64_t> sut{[](uint64_t n) {
                                // Later batches are often ready first.
                                for (uint64_t i = 0; i < (7 * n) % 5; ++i)
                                  std::this_thread::yield();
                                return n * n;
                              },
                              3, threads, 4};
    for (uint64_t n = 3; n < 200; ++n)
      BOOST_REQUIRE_EQUAL(sut.next(), n * n);
  }
}

BOOST_AUTO_TEST_CASE(no_more_are_made_ahead_than_may_wait) {
  std::atomic<uint64_t> made = 0;
  batch_queue<uint64_t> sut{[&](uint64_t n) {
                              ++made;
                              return n;
                            },
                            0, 3, 4};
  BOOST_TEST(sut.next() == 0u);
  BOOST_TEST(sut.next() == 1u);
  BOOST_TEST(made.load() <= 6u);
}

BOOST_AUTO_TEST_CASE(what_a_batch_throws_is_thrown_in_its_turn) {
  for (const size_t threads : {0u, 2u}) {
    batch_queue<int> sut{[](uint64_t n) -> int {
                           if (n == 2)
                             throw std::runtime_error("two");
                           return static_cast<int>(n);
                         },
                         0, threads, 4};
    BOOST_TEST(sut.next() == 0);
    BOOST_TEST(sut.next() == 1);
    BOOST_CHECK_THROW(sut.next(), std::runtime_error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
