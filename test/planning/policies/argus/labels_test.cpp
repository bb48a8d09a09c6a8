// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/argus/labels.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::argus;

namespace {

uint32_t label(std::vector<double> scores, double share = tolerated_share) {
  return tolerated_level(scores, share);
}

table scores_of(const std::vector<std::vector<double>>& rows) {
  table t{rows.size(), rows.front().size()};
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < rows[i].size(); ++j)
      t.at(i, j) = rows[i][j];
  return t;
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_labels_test)

BOOST_AUTO_TEST_CASE(the_fastest_good_level_is_tolerated) {
  BOOST_TEST(label({20}) == 0u);
  BOOST_TEST(label({20, 19, 17}) == 1u);
  BOOST_TEST(label({20, 18, 17.9}) == 1u);
  // The share is relative to the best level, whichever that is.
  BOOST_TEST(label({18, 20, 17}) == 1u);
  BOOST_TEST(label({10, 10, 20}) == 2u);
  // A worse level between two good ones does not matter.
  BOOST_TEST(label({20, 10, 19}) == 2u);
  BOOST_TEST(label({20, 20, 20}) == 2u);
  BOOST_TEST(label({-10, -10.5, -12}) == 1u);
  BOOST_TEST(label({0, 0, -1}) == 1u);
  BOOST_TEST(label({20, NAN, 15}) == 0u);
  BOOST_TEST(label({NAN, NAN}) == 0u);
  // The shipped family has five levels, and some of them were not drawn.
  BOOST_TEST(label({1, 1, 1, 1, 1}) == 4u);
  BOOST_TEST(label({1, 0.95, 0.9, 0.8, 0.5}) == 2u);
  BOOST_TEST(label({0.5, 0.5, 0.5, 1, 0.5}) == 3u);
  BOOST_TEST(label({1, NAN, 0.95, NAN, 0.5}) == 2u);
  BOOST_TEST(label({0, 0, 0, 0, 0}) == 4u);
  BOOST_TEST(label({20, 19.9}, 1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_class_without_prompts_takes_the_mean_of_all) {
  const auto rows = scores_of({{10, 5}, {10, 8}});
  const auto q = class_quality(rows);
  BOOST_TEST(q.at(0, 1) == 6.5);
  BOOST_TEST(q.at(1, 0) == 10.0);
  BOOST_TEST(q.at(1, 1) == 6.5);
}

BOOST_AUTO_TEST_CASE(the_histogram_looks_back_a_thousand_predictions) {
  const std::vector<double> before{1, 3};
  recent_classes recent;
  BOOST_TEST((histogram(recent, 2, before) == std::vector<double>{0.25, 0.75}));
  BOOST_TEST((histogram(recent, 2, {}) == std::vector<double>{1, 0}));
  BOOST_TEST(histogram(recent, 0, {}).empty());
  note(recent, 1);
  BOOST_TEST((histogram(recent, 2, before) == std::vector<double>{0, 1}));
  note(recent, 9);
  BOOST_TEST((histogram(recent, 2, before) == std::vector<double>{0, 1}));
  for (size_t i = 0; i < histogram_length; ++i)
    note(recent, 0);
  BOOST_TEST(recent.last.size() == histogram_length);
  BOOST_TEST(histogram(recent, 2, before)[1] == 0.0);
  for (size_t i = 0; i < histogram_length / 4; ++i)
    note(recent, 1);
  BOOST_TEST(histogram(recent, 2, before)[1] == 0.25,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_thousand_predictions_are_near_the_truth) {
  const std::vector<double> truth{0.3, 0.1, 0.05, 0.25, 0.1, 0.2};
  for (uint64_t i = 0; i < 100; ++i) {
    auto random = test::random_of(i);
    recent_classes recent;
    for (size_t n = 0; n < 3000; ++n) {
      double u = random.uniform();
      uint32_t c = 0;
      while (c + 1 < truth.size() && (u -= truth[c]) >= 0)
        ++c;
      note(recent, c);
    }
    const auto h = histogram(recent, truth.size(), {});
    BOOST_TEST(std::accumulate(h.begin(), h.end(), 0.0) == 1.0,
               boost::test_tools::tolerance(1e-9));
    double squares = 0;
    for (size_t c = 0; c < truth.size(); ++c)
      squares += (h[c] - truth[c]) * (h[c] - truth[c]);
    BOOST_TEST(squares <= 0.01);
  }
}

BOOST_AUTO_TEST_SUITE_END()
