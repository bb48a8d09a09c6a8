// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/diffserve/cascades.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/diffserve/direct.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::diffserve;

BOOST_AUTO_TEST_SUITE(diffserve_direct_test)

BOOST_AUTO_TEST_CASE(direct_routing_never_lowers_the_threshold) {
  const size_t loops = test::scaled(100'000);
  size_t higher = 0;
  for (size_t i = 0; i < loops; ++i) {
    auto random = test::random_of(i);
    auto p = test::random_problem(random);
    std::vector<difficulty> classes(1 + random.below(4));
    double sum = 0;
    for (difficulty& c : classes) {
      c.share = 0.05 + random.uniform();
      sum += c.share;
      c.deferred = test::random_deferral(random);
    }
    p.deferred.fill(0);
    for (difficulty& c : classes) {
      c.share /= sum;
      for (size_t k = 0; k < thresholds; ++k)
        p.deferred[k] += c.share * c.deferred[k];
    }
    const auto plain = allocate(p);
    const auto direct = allocate_direct(p, classes);
    BOOST_REQUIRE(static_cast<bool>(plain) == static_cast<bool>(direct));
    if (!plain)
      continue;
    BOOST_REQUIRE_MESSAGE(direct->base.threshold >= plain->threshold,
                          "instance " << i);
    if (plain->step != cascade_step::as_asked)
      continue;
    // The loads fit on the workers.
    double light = 0;
    double heavy = 0;
    for (size_t j = 0; j < classes.size(); ++j) {
      const double d = direct->direct[j];
      BOOST_REQUIRE((d >= 0 && d <= 1 + 1e-12));
      const double load = p.demand * classes[j].share;
      light += load * (1 - d);
      heavy +=
        load * (d + (1 - d) * classes[j].deferred[direct->base.threshold]);
    }
    BOOST_REQUIRE(direct->base.light
                    * throughput(p.light, direct->base.light_batch)
                  >= light - 1e-6);
    BOOST_REQUIRE(direct->base.heavy
                    * throughput(p.heavy, direct->base.heavy_batch)
                  >= heavy - 1e-6);
    if (p.deferred[direct->base.threshold] > plain->deferred + 1e-9)
      ++higher;
  }
  BOOST_TEST_MESSAGE("direct routing allows a higher threshold in "
                     << higher << " of " << loops);
  BOOST_TEST(higher > 0u);
}

BOOST_AUTO_TEST_CASE(direct_routing_pays_above_a_share) {
  // An image takes 0.055 s and 0.92 s: C1's break-even is .940.
  BOOST_TEST(direct_is_cheaper(0.941, {4, 0.22}, {4, 3.68}));
  BOOST_TEST(!direct_is_cheaper(0.939, {4, 0.22}, {4, 3.68}));
  std::vector<difficulty> half(1);
  half[0].share = 0.5;
  cascade_problem p;
  BOOST_TEST(
    (allocate_direct(p, half).why().code == core::ec::invalid_argument));
  BOOST_TEST((allocate_direct(p, {}).why().code == core::ec::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
