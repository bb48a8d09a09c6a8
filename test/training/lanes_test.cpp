// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/lanes.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>

using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(lanes_side_by_side)

BOOST_AUTO_TEST_CASE(each_part_runs_once_and_always_on_its_thread) {
  for (const size_t count : {1u, 2u, 4u}) {
    lanes sut{count};
    BOOST_TEST(sut.count() == count);
    std::vector<std::thread::id> first(count);
    sut.run([&](size_t i) { first[i] = std::this_thread::get_id(); });
    BOOST_CHECK(first[0] == std::this_thread::get_id());
    std::vector<int> calls(count);
    for (int round = 0; round < 100; ++round)
      sut.run([&](size_t i) {
        if (first[i] == std::this_thread::get_id())
          ++calls[i];
      });
    for (const auto x : calls)
      BOOST_TEST(x == 100);
  }
}

BOOST_AUTO_TEST_CASE(a_part_that_throws_is_heard_and_ends_nothing) {
  lanes sut{3};
  BOOST_CHECK_THROW(sut.run([](size_t i) {
    if (i == 2)
      throw std::runtime_error("part");
  }),
                    std::runtime_error);
  std::vector<int> calls(3);
  sut.run([&](size_t i) { ++calls[i]; });
  BOOST_TEST(calls == (std::vector<int>{1, 1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
