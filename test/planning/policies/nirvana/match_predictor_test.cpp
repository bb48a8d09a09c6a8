// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policies/nirvana/match_predictor.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning::nirvana;

namespace {

// Draws unit vectors around a few centres.
std::vector<float> clustered(core::philox& random, size_t n, size_t width,
                             size_t centres, double noise,
                             uint64_t centre_seed = 0) {
  auto fixed = test::random_of(1000 + centre_seed);
  std::vector<double> middle(centres * width);
  for (double& x : middle)
    x = fixed.normal();
  std::vector<float> out;
  for (size_t i = 0; i < n; ++i) {
    const size_t c = random.below(centres);
    std::vector<double> x(width);
    double norm = 0;
    for (size_t k = 0; k < width; ++k) {
      x[k] = middle[c * width + k] + noise * random.normal();
      norm += x[k] * x[k];
    }
    for (const double v : x)
      out.push_back(static_cast<float>(v / std::sqrt(norm)));
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(nirvana_match_predictor_test)

BOOST_AUTO_TEST_CASE(untrained_predictors_say_yes) {
  const std::vector<float> x{1, 0};
  BOOST_TEST(match_predictor{}.says_hit(x));
  const auto none = train_one_class({}, test::random_of(0));
  BOOST_TEST(!none.trained);
  BOOST_TEST(none.says_hit(x));
}

BOOST_AUTO_TEST_CASE(the_machine_is_within_a_hundredth_of_the_optimum) {
  for (const double nu : {0.001, 0.01, 0.2}) {
    auto random = test::random_of(3);
    const auto values = clustered(random, 2000, 32, 5, 0.4);
    const embedding_list list{values, 32};
    const auto m = train_one_class(list, test::random_of(1), nu);
    BOOST_REQUIRE(m.trained);
    double norm = 0;
    for (const float w : m.weights)
      norm += static_cast<double>(w) * static_cast<double>(w);
    // Its weights are a point of the dual. The value there is a lower bound of
    // every machine's objective.
    const double bound = -norm / 2;
    const double objective = one_class_objective(m, list, nu);
    BOOST_TEST(objective >= bound - 1e-6);
    BOOST_TEST(objective - bound <= 0.01 * std::abs(bound));
    // At the optimum at most a share nu is outside. Points at the border can
    // fall to either side.
    auto wider = m;
    wider.offset -= 0.02 * std::abs(m.offset);
    size_t out = 0;
    for (size_t i = 0; i < list.size(); ++i)
      out += wider.says_hit(list.at(i)) ? 0u : 1u;
    BOOST_TEST(static_cast<double>(out)
               <= nu * static_cast<double>(list.size()) + 1);
  }
}

BOOST_AUTO_TEST_CASE(training_is_repeatable) {
  auto random = test::random_of(3);
  const auto values = clustered(random, 300, 16, 3, 0.5);
  const embedding_list list{values, 16};
  const auto a = train_one_class(list, test::random_of(1));
  const auto b = train_one_class(list, test::random_of(1));
  BOOST_TEST((a.weights == b.weights));
  BOOST_TEST(a.offset == b.offset);
}

BOOST_AUTO_TEST_CASE(outcomes_teach_what_hits) {
  auto random = test::random_of(5);
  auto values = clustered(random, 1500, 32, 4, 0.6, 1);
  const auto others = clustered(random, 1500, 32, 4, 0.6, 2);
  values.insert(values.end(), others.begin(), others.end());
  std::vector<search_outcome> outcomes(3000);
  std::fill(outcomes.begin(), outcomes.begin() + 1500, search_outcome{true});
  const auto m = train_on_outcomes({values, 32}, outcomes, test::random_of(1));
  BOOST_REQUIRE(m.trained);
  const auto near = clustered(random, 1000, 32, 4, 0.6, 1);
  const auto far = clustered(random, 1000, 32, 4, 0.6, 2);
  size_t right = 0;
  for (size_t i = 0; i < 1000; ++i) {
    right += m.says_hit(embedding_list{near, 32}.at(i)) ? 1u : 0u;
    right += m.says_hit(embedding_list{far, 32}.at(i)) ? 0u : 1u;
  }
  BOOST_TEST(right > 1900u);
  const std::vector<search_outcome> all(3000, {true});
  BOOST_TEST(!train_on_outcomes({values, 32}, all, test::random_of(1)).trained);
}

BOOST_AUTO_TEST_CASE(an_outcome_counts_as_often_as_it_stands_for) {
  // As many equal prompts hit as miss, but each miss stands for sixteen, of
  // which fifteen were not searched for. Of alike ones chance decides on which
  // side most are, so several models are counted together.
  constexpr size_t models = 20;
  const auto said_hits = [&](uint32_t stands_for) {
    std::vector<search_outcome> outcomes(200);
    for (size_t i = 0; i < outcomes.size(); ++i)
      if (i % 2 == 0)
        outcomes[i].hit = true;
      else
        outcomes[i].stands_for = stands_for;
    size_t said = 0;
    for (size_t n = 0; n < models; ++n) {
      auto random = test::random_of(100 + n);
      const auto values = clustered(random, outcomes.size(), 16, 1, 0.05);
      const embedding_list list{values, 16};
      const auto m = train_on_outcomes(list, outcomes, test::random_of(n));
      BOOST_REQUIRE(m.trained);
      for (size_t i = 0; i < list.size(); ++i)
        said += m.says_hit(list.at(i)) ? 1u : 0u;
    }
    return said;
  };
  BOOST_TEST(said_hits(1) > models * 20u);
  BOOST_TEST(said_hits(16) < models * 5u);
}

BOOST_AUTO_TEST_CASE(a_twentieth_of_changes_calls_for_training) {
  BOOST_TEST(!retraining_due(5, 100));
  BOOST_TEST(retraining_due(6, 100));
  BOOST_TEST(!retraining_due(0, 0));
  BOOST_TEST(retraining_due(1, 0));
}

BOOST_AUTO_TEST_SUITE_END()
