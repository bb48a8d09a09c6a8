// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ids.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(time_test)

BOOST_AUTO_TEST_CASE(seconds_become_spans_and_saturate) {
  BOOST_TEST(from_seconds(1.5).count() == 1'500'000'000);
  BOOST_TEST(from_seconds(-0.25).count() == -250'000'000);
  BOOST_TEST((from_seconds(1e300) == timespan::max()));
  BOOST_TEST((from_seconds(-1e300) == timespan::min()));
  BOOST_TEST(from_seconds(std::numeric_limits<double>::quiet_NaN()).count()
             == 0);
  BOOST_TEST(to_seconds(from_seconds(2.25)) == 2.25);
  BOOST_TEST(to_ms(from_seconds(0.25)) == 250.0);
}

BOOST_AUTO_TEST_CASE(after_saturates_at_never) {
  const time_point start{};
  BOOST_TEST((after(start, from_seconds(1)) == start + from_seconds(1)));
  BOOST_TEST((after(never, from_seconds(1)) == never));
  BOOST_TEST((after(never, from_seconds(-1)) == never));
  BOOST_TEST((after(start + from_seconds(5), timespan::max()) == never));
  BOOST_TEST((after(start - from_seconds(5), from_seconds(1))
              == start - from_seconds(4)));
}

BOOST_AUTO_TEST_CASE(shapes_count_without_overflow) {
  BOOST_TEST((extent{4'000'000'000u, 4u}.pixels()) == 16'000'000'000u);
  BOOST_TEST((latent_shape{4, 64, 64}.elements()) == 16'384u);
  BOOST_TEST(bytes_of(dtype::float32) == 4u);
  BOOST_TEST(bytes_of(dtype::bfloat16) == 2u);
  BOOST_TEST(to_string(dtype::float16) == "float16");
}

BOOST_AUTO_TEST_CASE(attempts_of_a_request_are_different_tickets) {
  const ticket first{request_id{7}, 1};
  const ticket second{request_id{7}, 2};
  BOOST_TEST((first != second));
  BOOST_TEST((first < second));
  BOOST_TEST(std::hash<ticket>{}(first) != std::hash<ticket>{}(second));
}

BOOST_AUTO_TEST_SUITE_END()
