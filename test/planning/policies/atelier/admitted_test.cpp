// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/atelier/offers.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

using namespace atelier;
using namespace atelier::planning::unified;

namespace {

// Returns classes that send at these rates, with 5 % of headroom.
offers sent(const std::vector<double>& rates) {
  offers out;
  out.rate = std::accumulate(rates.begin(), rates.end(), 0.0);
  out.spare = 0.05 * out.rate;
  for (const double x : rates)
    out.asked.classes.push_back({"", 1.05 * x, 0, 1});
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(unified_admitted_test)

BOOST_AUTO_TEST_CASE(head_room_that_is_short_refuses_nobody) {
  BOOST_TEST(admitted(sent({2, 2}), {0, 0.2}).empty());
  BOOST_TEST(admitted(sent({2, 2}), {0, 0}).empty());
}

BOOST_AUTO_TEST_CASE(what_is_refused_beyond_it_is_of_the_classes_refused) {
  const auto rates = admitted(sent({2, 2}), {0, 0.7});
  BOOST_REQUIRE(rates.size() == 2u);
  BOOST_TEST(std::isinf(rates[0]));
  BOOST_TEST(rates[1] == 1.5, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(as_many_are_admitted_as_the_plan_answers) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<double> rates;
    for (size_t n = 1 + random.below(12); n > 0; --n)
      rates.push_back(0.01 + 5 * random.uniform());
    const auto o = sent(rates);
    std::vector<double> refused;
    double answered = 0;
    for (const auto& c : o.asked.classes) {
      refused.push_back(random.below(3) == 0 ? 0 : c.rate * random.uniform());
      answered += c.rate - refused.back();
    }
    const auto out = admitted(o, refused);
    if (out.empty()) {
      BOOST_REQUIRE_LE(o.rate, answered + 1e-5);
      continue;
    }
    BOOST_REQUIRE(out.size() == rates.size());
    double sum = 0;
    for (size_t k = 0; k < out.size(); ++k) {
      BOOST_REQUIRE_GE(out[k], 0.0);
      BOOST_REQUIRE(std::isinf(out[k]) == (refused[k] == 0));
      sum += std::min(out[k], rates[k]);
    }
    // A class that is refused completely adds nothing.
    BOOST_REQUIRE_GE(sum, answered - 1e-5);
    BOOST_REQUIRE_LE(sum, o.rate + 1e-5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
