// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/argus/shift.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::argus;

namespace {

std::vector<double> random_shares(core::philox& random, size_t n) {
  std::vector<double> x(n);
  for (double& one : x)
    one = random.below(4) == 0 ? 0 : random.uniform();
  x[random.below(n)] += 0.05;
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& one : x)
    one /= sum;
  return x;
}

// Returns a table by gap: d[j - i], and 0 on slower levels.
table by_gap(size_t n, const std::vector<double>& d) {
  table t{n, n};
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j)
      t.at(i, j) = d[j - i];
  return t;
}

// Returns Eq. 2: the mean degradation under a shift map.
double degradation_of(const shift_map& map, const std::vector<double>& h,
                      const table& d) {
  double sum = 0;
  for (size_t c = 0; c < map.rows; ++c)
    for (size_t v = 0; v < map.columns; ++v)
      sum += h[c] * map.at(c, v) * d.at(c, v);
  return sum;
}

void check_map(const shift_map& map, const std::vector<double>& h,
               const std::vector<double>& f, double within) {
  for (size_t c = 0; c < map.rows; ++c) {
    double sum = 0;
    for (size_t v = 0; v < map.columns; ++v) {
      BOOST_REQUIRE(map.at(c, v) >= 0);
      sum += map.at(c, v);
    }
    BOOST_REQUIRE_SMALL(sum - 1, 1e-9);
  }
  for (size_t v = 0; v < map.columns; ++v) {
    double sum = 0;
    for (size_t c = 0; c < map.rows; ++c)
      sum += h[c] * map.at(c, v);
    BOOST_REQUIRE_SMALL(sum - f[v], within);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_shift_test)

BOOST_AUTO_TEST_CASE(equal_distributions_shift_nothing) {
  const std::vector<double> h{0.2, 0.5, 0.3};
  for (const auto& map :
       {align(h, h), align_exactly(h, h, by_gap(3, {0, 1, 2}))})
    for (size_t c = 0; c < 3; ++c)
      for (size_t v = 0; v < 3; ++v)
        BOOST_REQUIRE_SMALL(map.at(c, v) - (c == v ? 1.0 : 0.0), 1e-9);
}

BOOST_AUTO_TEST_CASE(surplus_goes_slower_and_lack_is_filled_from_slower) {
  // The fast class has too many prompts: they move one level up, without a
  // loss.
  const auto up =
    align(std::vector<double>{0, 0, 1}, std::vector<double>{0, 1, 0});
  BOOST_TEST(up.at(2, 1) == 1.0);
  const auto down =
    align(std::vector<double>{1, 0, 0}, std::vector<double>{0.25, 0.25, 0.5});
  BOOST_TEST(down.at(0, 0) == 0.25, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(down.at(0, 1) == 0.25, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(down.at(0, 2) == 0.5, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_class_that_nobody_has_runs_on_the_nearest_level) {
  const auto map =
    align(std::vector<double>{0, 1, 0}, std::vector<double>{0, 1, 0});
  BOOST_TEST(map.at(0, 1) == 1.0);
  BOOST_TEST(map.at(2, 1) == 1.0);
  const auto own =
    align(std::vector<double>{1, 0, 0}, std::vector<double>{0.5, 0, 0.5});
  BOOST_TEST(own.at(1, 0) == 1.0);
  BOOST_TEST(own.at(2, 2) == 1.0);
  // Nothing is known about either side, so all prompts have the first class.
  const auto nothing =
    align(std::vector<double>{0, 0}, std::vector<double>{0, 0});
  BOOST_TEST(nothing.at(0, 0) == 1.0);
}

BOOST_AUTO_TEST_CASE(the_papers_rule_is_not_optimal_for_every_degradation) {
  const std::vector<double> h{0.5, 0.5, 0, 0};
  const std::vector<double> f{0, 0, 0.5, 0.5};
  const auto d = by_gap(4, {0, 1, 5, 6});
  BOOST_TEST(degradation_of(align(h, f), h, d) == 5.0,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(degradation_of(align_exactly(h, f, d), h, d) == 3.5,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(the_exact_map_is_never_worse) {
  const size_t loops = test::scaled(100'000);
  size_t better = 0;
  double saved = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    const size_t n = 1 + random.below(7);
    const auto h = random_shares(random, n);
    const auto f = random_shares(random, n);
    table d{n, n};
    for (size_t a = 0; a < n; ++a) {
      double at = 0;
      for (size_t b = a + 1; b < n; ++b)
        d.at(a, b) = at += random.uniform();
    }
    const auto oda = align(h, f);
    const auto exact = align_exactly(h, f, d);
    // The paper's rule leaves shares below its noise where they are.
    check_map(oda, h, f, 1e-8);
    check_map(exact, h, f, 1e-9);
    const double paper = degradation_of(oda, h, d);
    const double ours = degradation_of(exact, h, d);
    BOOST_REQUIRE_MESSAGE(ours <= paper + 1e-7,
                          "instance " << i << ": " << ours << " > " << paper);
    if (ours < paper * (1 - 1e-6) - 1e-9) {
      ++better;
      saved += 1 - ours / paper;
    }
  }
  BOOST_TEST_MESSAGE(
    "the exact map degrades less in "
    << better << " of " << loops << ", by a mean of "
    << 100 * saved / static_cast<double>(std::max<size_t>(better, 1)) << " %");
  BOOST_TEST(better > 0u);
}

BOOST_AUTO_TEST_CASE(both_maps_degrade_alike_where_degradation_is_convex) {
  for (size_t i = 0; i < test::scaled(20'000); ++i) {
    auto random = test::random_of(i);
    const size_t n = 1 + random.below(7);
    const auto h = random_shares(random, n);
    const auto f = random_shares(random, n);
    std::vector<double> gaps(n, 0.0);
    double slope = 0;
    for (size_t g = 1; g < n; ++g)
      gaps[g] = gaps[g - 1] + (slope += random.uniform());
    const auto d = by_gap(n, gaps);
    const double paper = degradation_of(align(h, f), h, d);
    const double ours = degradation_of(align_exactly(h, f, d), h, d);
    BOOST_REQUIRE_MESSAGE(std::abs(paper - ours) < 1e-6, "instance " << i);
  }
}

BOOST_AUTO_TEST_CASE(draws_follow_the_row) {
  const std::vector<double> row{0, 0.25, 0, 0.75, 0};
  std::vector<double> drawn(5, 0.0);
  auto random = test::random_of(3);
  for (size_t i = 0; i < 20'000; ++i)
    drawn[draw_level(row, random)] += 1.0 / 20'000;
  BOOST_TEST(drawn[0] + drawn[2] + drawn[4] == 0.0);
  BOOST_TEST(std::abs(drawn[1] - 0.25) < 0.02);
  // The remainder of rounding never goes to a level without a share.
  const std::vector<double> less{0.2, 0.2, 0};
  for (size_t i = 0; i < 100; ++i)
    BOOST_TEST(draw_level(less, random) < 2u);
  BOOST_TEST(draw_level({}, random) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
