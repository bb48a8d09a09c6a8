// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/batching/group_size.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using atelier::gpu::group_size;

namespace {

/// A device whose memory holds passes of `room` places.
struct device {
  uint64_t room = 0;
  /// The places of each row.
  uint64_t each = 1;
  group_size size = {};
  uint64_t failures = 0;

  /// Runs a step of so many rows, and returns the number of passes.
  uint64_t step(uint64_t rows) {
    uint64_t passes = 0;
    while (rows > 0) {
      const auto most = size.most() == 0 ? rows : size.most() / each;
      const auto here = std::clamp<uint64_t>(most, 1, rows);
      if (here * each > room) {
        size.failed(here * each);
        ++failures;
        continue;
      }
      rows -= here;
      size.fitted(here * each, rows > 0 ? each : 0);
      ++passes;
    }
    return passes;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(group_size_test)

BOOST_AUTO_TEST_CASE(a_device_with_room_knows_no_limit) {
  device x{.room = 8};
  for (int i = 0; i < 1000; ++i)
    BOOST_TEST(x.step(8) == 1u);
  BOOST_TEST(x.size.most() == 0u);
}

BOOST_AUTO_TEST_CASE(too_many_places_are_halved_and_remembered) {
  device x{.room = 3};
  BOOST_TEST(x.step(8) == 4u);
  BOOST_TEST(x.failures == 2u);
  BOOST_TEST(x.step(8) == 4u);
  BOOST_TEST(x.failures == 2u);
}

BOOST_AUTO_TEST_CASE(
  the_greatest_number_that_fits_is_found_and_rarely_exceeded) {
  device x{.room = 3};
  for (int i = 0; i < 100; ++i)
    x.step(8);
  BOOST_TEST(x.size.most() == 3u);
  BOOST_TEST(x.step(8) == 3u);
  const auto before = x.failures;
  for (uint64_t i = 0; i < 100 * group_size::patience; ++i)
    x.step(8);
  BOOST_TEST(x.size.most() == 3u);
  // The waits are 64, 128, 256 and so on.
  BOOST_TEST(x.failures - before <= 9u);
}

BOOST_AUTO_TEST_CASE(memory_that_becomes_free_is_used_again) {
  device x{.room = 1};
  x.step(8);
  BOOST_TEST(x.size.most() == 1u);
  x.room = 8;
  for (uint64_t i = 0; i < 20 * group_size::patience; ++i)
    x.step(8);
  BOOST_TEST(x.step(8) == 1u);
}

BOOST_AUTO_TEST_CASE(rows_of_two_places_use_it_again_too) {
  device x{.room = 2, .each = 2};
  x.step(8);
  BOOST_TEST(x.size.most() == 2u);
  x.room = 16;
  for (uint64_t i = 0; i < 20 * group_size::patience; ++i)
    x.step(8);
  BOOST_TEST(x.step(8) == 1u);
}

BOOST_AUTO_TEST_CASE(one_row_of_two_places_more_is_rarely_tried) {
  device x{.room = 6, .each = 2};
  for (int i = 0; i < 200; ++i)
    x.step(8);
  BOOST_TEST(x.size.most() == 6u);
  const auto before = x.failures;
  for (uint64_t i = 0; i < 100 * group_size::patience; ++i)
    x.step(8);
  BOOST_TEST(x.step(8) == 3u);
  BOOST_TEST(x.failures - before <= 9u);
  x.room = 2;
  BOOST_TEST(x.step(8) == 8u);
}

BOOST_AUTO_TEST_CASE(memory_that_is_taken_halves_again) {
  device x{.room = 4};
  for (uint64_t i = 0; i < 4 * group_size::patience; ++i)
    x.step(8);
  BOOST_TEST(x.size.most() == 4u);
  x.room = 2;
  x.step(8);
  BOOST_TEST(x.size.most() == 2u);
}

BOOST_AUTO_TEST_CASE(one_place_is_the_least) {
  device x{.room = 1};
  x.step(2);
  x.size.failed(1);
  BOOST_TEST(x.size.most() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
