// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/atelier/programme.hpp>
#include <atelier/planning/policies/atelier/waiting.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning::unified;

namespace {

// Returns the exact wait of M/M/k, in service times: Erlang's C over k (1 -
// busy).
double exact_wait(uint32_t k, double busy) {
  const double load = k * busy;
  double blocked = 1;
  for (uint32_t i = 1; i <= k; ++i)
    blocked = load * blocked / (i + load * blocked);
  const double waits = blocked / (1 - busy * (1 - blocked));
  return waits / (k * (1 - busy));
}

} // namespace

BOOST_AUTO_TEST_SUITE(unified_waiting_test)

BOOST_AUTO_TEST_CASE(waits_are_near_those_of_an_exact_queue) {
  for (const uint32_t k : {1u, 2u, 4u, 8u, 32u, 128u})
    for (const double busy : {0.5, 0.7, 0.9, 0.95}) {
      const double exact = exact_wait(k, busy);
      const double ours = mean_wait(k, busy, {1, 1});
      BOOST_TEST(std::abs(ours - exact) < 0.1 * exact + 0.03,
                 k << " servers, busy " << busy << ": " << ours << ", exact "
                   << exact);
    }
  BOOST_TEST(mean_wait(1, 0.5, {1, 0}) == 0.5,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(busy_shares_are_the_largest_of_their_wait) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const double k = static_cast<double>(1 + random.below(1000));
    const double wait = 0.01 + 2 * random.uniform();
    const double busy = most_busy(k, wait);
    BOOST_REQUIRE_LE(mean_wait(k, busy), wait);
    BOOST_REQUIRE(busy > 0.9999 || mean_wait(k, busy + 1e-4) > wait);
    BOOST_REQUIRE_GE(most_busy(k + 1, wait), busy);
    BOOST_REQUIRE_GE(most_busy(k, wait * 1.1), busy);
  }
}

BOOST_AUTO_TEST_CASE(envelopes_are_concave_and_above_all_points) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<std::pair<double, double>> points;
    for (size_t n = 1 + random.below(20); n > 0; --n)
      points.emplace_back(static_cast<double>(random.below(30)) / 30,
                          random.uniform());
    const auto all = envelope(points, 100);
    const auto value = [](const auto& segments, double x) {
      double least = 1e9;
      for (const mix_segment& s : segments)
        least = std::min(least, s.light * x + s.all);
      return least;
    };
    const auto segments = segments_of(all);
    for (const auto& [x, y] : points)
      BOOST_REQUIRE_GE(value(segments, x), y - 1e-9);
    for (const auto& [x, y] : all)
      BOOST_REQUIRE_SMALL(value(segments, x) - y, 1e-9);
    const auto few = envelope(points, 4);
    BOOST_REQUIRE_LE(few.size(), 4u);
    BOOST_REQUIRE((few.front() == all.front() && few.back() == all.back()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
