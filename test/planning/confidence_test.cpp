// SPDX-License-Identifier: Apache-2.0
#include "planning/full_profile.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/planning/confidence.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace atelier;
using namespace atelier::planning;

namespace {

profile with_qualities(
  const std::vector<std::pair<double, uint32_t>>& measured) {
  profile p;
  for (size_t i = 0; i < measured.size(); ++i) {
    auto v = *parse_variant(fmt::format("m{}@10", i));
    v.quality = measured[i].first;
    v.quality_images = measured[i].second;
    p.variants.push_back(v);
  }
  return p;
}

std::vector<double> qualities_of(const profile& p) {
  std::vector<double> out;
  for (const auto& v : p.variants)
    out.push_back(v.quality);
  return out;
}

/// Returns the least squared distance from a curve with one valley, by trying
/// every curve on a grid of values.
double least_apart(const curve& points, size_t at, double last, bool rises) {
  if (at == points.size())
    return 0;
  double least = INFINITY;
  for (int k = 0; k <= 4; ++k) {
    const double y = k / 4.0;
    if (rises && y < last)
      continue;
    const double here = (points[at].second - y) * (points[at].second - y);
    const bool now = rises || y > last;
    least = std::min(least, here + least_apart(points, at + 1, y, now));
  }
  return least;
}

} // namespace

BOOST_AUTO_TEST_SUITE(confidence_test)

BOOST_AUTO_TEST_CASE(an_error_falls_with_the_root_of_images) {
  BOOST_TEST(standard_error(0.5, 100, 0) == 0.05,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(standard_error(0.9, 100, 0) == 0.03,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(standard_error(31, 400, 2) == 0.1,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(standard_error(0.5, 0, 0.2) == 0);
  // A variant that is always right has no uncertainty.
  BOOST_TEST(standard_error(1, 10, 0) == 0);
}

BOOST_AUTO_TEST_CASE(a_difference_of_few_images_is_none) {
  // With standard errors of about .037 each, .85 is not certainly above .8.
  const auto few =
    qualities_of(beyond_chance(with_qualities({{0.85, 100}, {0.8, 100}})));
  BOOST_TEST(few[0] == few[1]);
  BOOST_TEST(few[0] == 0.825, boost::test_tools::tolerance(1e-12));
  const auto many =
    qualities_of(beyond_chance(with_qualities({{0.85, 2000}, {0.8, 2000}})));
  BOOST_TEST(many[0] == 0.85);
  BOOST_TEST(many[1] == 0.8);
  // The mean is that of all images.
  const auto uneven =
    qualities_of(beyond_chance(with_qualities({{0.85, 300}, {0.8, 100}})));
  BOOST_TEST(uneven[0] == 0.8375, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(what_names_no_images_is_taken_at_its_word) {
  const auto told =
    qualities_of(beyond_chance(with_qualities({{0.85, 0}, {0.849, 0}})));
  BOOST_TEST(told[0] == 0.85);
  BOOST_TEST(told[1] == 0.849);
  const auto full = test::full_profile();
  BOOST_TEST((beyond_chance(full) == full));
}

BOOST_AUTO_TEST_CASE(no_order_is_turned_and_no_true_difference_lost) {
  core::philox random{test::seed(), core::purpose::test};
  for (size_t round = 0; round < test::scaled(20'000); ++round) {
    std::vector<std::pair<double, uint32_t>> all(1 + random.below(7));
    for (auto& x : all)
      x = {random.uniform(), static_cast<uint32_t>(1 + random.below(5000))};
    const auto before = with_qualities(all);
    const auto after = qualities_of(beyond_chance(before));
    const auto error = [&](size_t i) {
      return standard_error(all[i].first, all[i].second, 0);
    };
    double sum = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      sum += (after[i] - all[i].first) * all[i].second;
      for (size_t j = 0; j < all.size(); ++j) {
        if (all[i].first > all[j].first)
          BOOST_TEST(after[i] >= after[j]);
        // The best value stays above each value that it is certainly above.
        const auto best = std::max_element(all.begin(), all.end());
        if (best - all.begin() == static_cast<ptrdiff_t>(i)
            && all[i].first - all[j].first
                 > confident_errors * std::hypot(error(i), error(j)))
          BOOST_TEST(after[i] > after[j]);
      }
    }
    // The mean over all images is unchanged.
    BOOST_TEST(std::abs(sum) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(a_curve_has_one_valley_and_is_the_nearest) {
  const curve dented{{0, 5}, {0.25, 4}, {0.5, 4.5}, {0.75, 3.5}, {1, 6}};
  const auto smooth = one_valley(dented);
  const std::vector<double> expected{5, 4.25, 4.25, 3.5, 6};
  for (size_t i = 0; i < smooth.size(); ++i) {
    BOOST_TEST(smooth[i].first == dented[i].first);
    BOOST_TEST(smooth[i].second == expected[i],
               boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(one_valley({}).empty());
  core::philox random{test::seed(), core::purpose::test};
  for (size_t round = 0; round < test::scaled(2'000); ++round) {
    curve points;
    for (uint64_t i = 0, n = 1 + random.below(6); i < n; ++i)
      points.emplace_back(static_cast<double>(i), random.uniform());
    const auto found = one_valley(points);
    double apart = 0;
    bool rises = false;
    for (size_t i = 0; i < found.size(); ++i) {
      apart += std::pow(found[i].second - points[i].second, 2);
      if (i > 0) {
        BOOST_TEST(!(rises && found[i].second < found[i - 1].second));
        rises = rises || found[i].second > found[i - 1].second;
      }
    }
    BOOST_TEST(apart <= least_apart(points, 0, INFINITY, false) + 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(a_dip_within_its_error_is_none) {
  auto p = test::full_profile();
  auto& c = p.cascades[0];
  c.fid = {{0, 18.5}, {0.5, 18}, {0.75, 18.7}, {1, 23}};
  c.fid_error = {0, 0.5, 0.4, 0.5};
  const auto chance = beyond_chance(p).cascades[0];
  BOOST_TEST(chance.fid[1].second == 18.5);
  BOOST_TEST(chance.fid[2].second == 18.5);
  BOOST_TEST(chance.fid[3].second == 23);
  c.fid_error = {0, 0.1, 0.1, 0.5};
  const auto sure = beyond_chance(p).cascades[0];
  BOOST_TEST(sure.fid[1].second == 18);
  BOOST_TEST(sure.fid[2].second == 18.7);
}

BOOST_AUTO_TEST_CASE(levels_of_a_ladder_are_compared_alike) {
  auto p = test::full_profile();
  auto& levels = p.ladders[1].levels;
  levels[0].quality = 0.9;
  levels[1].quality = 0.88;
  levels[2].quality = 0.5;
  for (auto& x : levels)
    x.images = 100;
  const auto found = beyond_chance(p).ladders[1].levels;
  BOOST_TEST(found[0].quality == found[1].quality);
  BOOST_TEST(found[2].quality == 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
