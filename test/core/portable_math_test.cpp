// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/portable_math.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(portable_math_test)

BOOST_AUTO_TEST_CASE(logarithm_is_within_two_ulp_of_the_library) {
  philox random{atelier::test::seed(), purpose::test};
  double worst = 0;
  for (size_t i = 0; i < atelier::test::scaled(10'000'000); ++i) {
    const double x = i % 2 == 0
                     ? 1 - random.uniform()
                     : std::ldexp(1 + random.uniform(),
                                  static_cast<int>(random.below(2000)) - 1000);
    const double expected = std::log(x);
    const double ulp =
      std::nextafter(std::abs(expected), INFINITY) - std::abs(expected);
    worst = std::max(worst, std::abs(portable_log(x) - expected) / ulp);
  }
  BOOST_TEST(worst <= 2.0);
  BOOST_TEST(portable_log(1) == 0.0);
}

BOOST_AUTO_TEST_CASE(turns_match_the_library) {
  philox random{atelier::test::seed(), purpose::test, request_id{1}};
  double worst = 0;
  for (size_t i = 0; i < atelier::test::scaled(10'000'000); ++i) {
    const double u = random.uniform();
    const turn sut = portable_turn(u);
    // The library rounds its argument, so this allows for that error in
    // addition to its own.
    worst =
      std::max(worst, std::abs(sut.sine - std::sin(2 * std::numbers::pi * u)));
    worst = std::max(worst,
                     std::abs(sut.cosine - std::cos(2 * std::numbers::pi * u)));
  }
  BOOST_TEST(worst < 2e-15);
}

BOOST_AUTO_TEST_CASE(quarters_are_exact) {
  BOOST_TEST(portable_turn(0).cosine == 1.0);
  BOOST_TEST(portable_turn(0.25).sine == 1.0);
  BOOST_TEST(portable_turn(0.5).cosine == -1.0);
  BOOST_TEST(portable_turn(0.75).sine == -1.0);
  BOOST_TEST(portable_turn(0.5).sine == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
