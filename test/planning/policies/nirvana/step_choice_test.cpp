// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/nirvana/cost_model.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::nirvana;

namespace {

match near_one(double similarity, std::vector<uint32_t> stored) {
  match m;
  m.similarity = similarity;
  m.stored = std::move(stored);
  return m;
}

} // namespace

BOOST_AUTO_TEST_SUITE(nirvana_step_choice_test)

BOOST_AUTO_TEST_CASE(similarities_must_lie_above_their_threshold) {
  const auto table = published_table();
  const auto skip = [&](double s) {
    return allowed_skip(table, s, threshold_rule::above);
  };
  BOOST_TEST(skip(.65) == 0u);
  BOOST_TEST(skip(.6501) == 5u);
  BOOST_TEST(skip(.75) == 5u);
  BOOST_TEST(skip(.85) == 10u);
  BOOST_TEST(skip(.9) == 15u);
  BOOST_TEST(skip(.95) == 20u);
  BOOST_TEST(skip(.951) == 25u);
  BOOST_TEST(skip(NAN) == 0u);
}

BOOST_AUTO_TEST_CASE(tables_scale_to_other_step_counts) {
  const auto table = published_table();
  BOOST_TEST((scaled_to(table, 50, 50) == table));
  const skip_table twenty{
    {2, 0.65}, {4, 0.75}, {6, 0.85}, {8, 0.9}, {10, 0.95}};
  BOOST_TEST((scaled_to(table, 50, 20) == twenty));
  // floor(K 4 / 50) is 0, 0, 1, 1, 2.
  const skip_table four{{1, 0.85}, {2, 0.95}};
  BOOST_TEST((scaled_to(table, 50, 4) == four));
  BOOST_TEST(scaled_to(table, 50, 1).empty());
}

BOOST_AUTO_TEST_CASE(holes_fall_to_the_next_lower_state) {
  const auto table = published_table();
  const auto resume = [&](double s, std::vector<uint32_t> stored) {
    const std::vector<match> near{near_one(s, std::move(stored))};
    const auto p = resume_nearest(near, table);
    return p ? p->used : 0;
  };
  BOOST_TEST(resume(.92, {5, 10, 15, 20, 25}) == 20u);
  BOOST_TEST(resume(.92, {5, 10, 25}) == 10u);
  BOOST_TEST(resume(.92, {25}) == 0u);
  BOOST_TEST(resume(.92, {}) == 0u);
  BOOST_TEST(resume(.5, {5}) == 0u);
  BOOST_TEST(!resume_nearest({}, table).has_value());
  const std::vector<match> one{near_one(.92, {10})};
  BOOST_TEST((resume_nearest(one, table).value() == resume_point{0, 20, 10}));
}

BOOST_AUTO_TEST_CASE(eight_neighbours_never_skip_fewer_steps) {
  const auto table = published_table();
  const size_t loops = test::scaled(100'000);
  size_t better = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    std::vector<match> near(random.below(12));
    double s = 0.5 + 0.5 * random.uniform();
    for (match& m : near) {
      m = near_one(s, {});
      s -= 0.05 * random.uniform();
      for (const auto& t : table)
        if (random.below(3) != 0)
          m.stored.push_back(t.skip);
    }
    const auto first = resume_nearest(near, table);
    const auto best = resume_furthest(near, table);
    const uint32_t a = first ? first->used : 0;
    const uint32_t b = best ? best->used : 0;
    BOOST_REQUIRE(b >= a);
    better += b > a ? 1u : 0u;
    if (best) {
      BOOST_REQUIRE(best->match < 8u);
      const match& m = near[best->match];
      BOOST_REQUIRE(
        b <= allowed_skip(table, m.similarity, threshold_rule::above));
      BOOST_REQUIRE(std::find(m.stored.begin(), m.stored.end(), b)
                    != m.stored.end());
    }
  }
  BOOST_TEST_MESSAGE("eight neighbours skip more in " << better << " of "
                                                      << loops);
  BOOST_TEST(better > 0u);
}

BOOST_AUTO_TEST_CASE(a_fiftieth_starts_fresh) {
  auto random = test::random_of(0);
  size_t fresh = 0;
  constexpr size_t n = 100'000;
  for (size_t i = 0; i < n; ++i)
    fresh += starts_fresh(random) ? 1u : 0u;
  // The range is five standard deviations around 2000.
  BOOST_TEST((fresh > 1779 && fresh < 2221));
}

BOOST_AUTO_TEST_CASE(the_predictor_is_asked_only_while_it_gains) {
  predictor_record paper{.96, .95, .88, .1, 2.05};
  BOOST_TEST(!predictor_pays(paper));
  // The predictor saves 13 ms of searching and loses 90 ms of hits.
  BOOST_TEST(predictor_gain(paper) == 0.0129 - 0.0902,
             boost::test_tools::tolerance(0.01));
  paper.search_seconds = 0.69;
  BOOST_TEST(!predictor_pays(paper));
  paper.search_seconds = 0.71;
  BOOST_TEST(predictor_pays(paper));
  // A predictor that always says yes saves nothing.
  BOOST_TEST(predictor_gain({.88, 1, .88, 1, 2}) == 0.0);
  BOOST_TEST(!predictor_pays({}));
}

BOOST_AUTO_TEST_SUITE_END()
