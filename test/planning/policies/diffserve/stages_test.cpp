// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/diffserve/cascades.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/diffserve/direct.hpp>
#include <atelier/planning/policies/diffserve/stages.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::diffserve;

BOOST_AUTO_TEST_SUITE(diffserve_stages_test)

BOOST_AUTO_TEST_CASE(two_legs_on_one_kind_are_the_plain_problem) {
  size_t feasible = 0;
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    auto p = test::random_problem(random);
    // The grid is coarse: every fortieth threshold.
    std::vector<std::pair<double, double>> gate;
    std::vector<std::pair<double, double>> coarse;
    for (size_t k = 0; k < thresholds; k += 40) {
      gate.emplace_back(threshold_at(k), p.deferred[k]);
      coarse.emplace_back(threshold_at(k), p.deferred[k]);
    }
    p.deferred = deferral_of(coarse);
    p.wait_heavy = 0;
    stages_problem s;
    s.legs = {{p.light}, {p.heavy}};
    s.gates = {gate};
    s.demand = p.demand;
    s.workers = {p.workers};
    s.slo = p.slo;
    s.waits = {p.wait_light, 0};
    const auto plain = allocate(p);
    const auto staged = allocate_stages(s);
    const bool as_asked = plain && plain->step == cascade_step::as_asked;
    BOOST_REQUIRE_MESSAGE(as_asked == static_cast<bool>(staged),
                          "instance " << i);
    if (!as_asked)
      continue;
    ++feasible;
    BOOST_REQUIRE_SMALL(gate[staged->threshold[0]].second - plain->deferred,
                        1e-9);
  }
  BOOST_TEST(feasible > 0u);
}

BOOST_AUTO_TEST_CASE(three_legs_on_two_kinds_equal_trying_everything) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    stages_problem s;
    s.workers = {static_cast<uint32_t>(random.below(4)),
                 static_cast<uint32_t>(1 + random.below(2))};
    s.demand = 3 * random.uniform();
    s.slo = 1 + 4 * random.uniform();
    s.waits = {0.1, 0, 0.1};
    for (size_t leg_at = 0; leg_at < 3; ++leg_at) {
      s.legs.emplace_back();
      for (size_t d = 0; d < 2; ++d) {
        leg_times l;
        const double one =
          (0.1 + random.uniform()) * static_cast<double>(1 + leg_at);
        l.batches = {{1, one}, {2, one * 1.5}};
        if (random.below(5) == 0)
          l.batches.clear();
        s.legs.back().push_back(l);
      }
    }
    for (size_t g = 0; g < 2; ++g)
      s.gates.push_back({{0, 0},
                         {0.5, random.uniform() * 0.5},
                         {1, 0.5 + random.uniform() / 2}});
    // The reference tries every split of both kinds, every batch and every pair
    // of thresholds.
    double best = -1;
    std::vector<uint32_t> a(3, 0);
    std::vector<uint32_t> b(3, 0);
    for (a[0] = 0; a[0] <= s.workers[0]; ++a[0])
      for (a[1] = 0; a[0] + a[1] <= s.workers[0]; ++a[1])
        for (b[0] = 0; b[0] <= s.workers[1]; ++b[0])
          for (b[1] = 0; b[0] + b[1] <= s.workers[1]; ++b[1]) {
            a[2] = s.workers[0] - a[0] - a[1];
            b[2] = s.workers[1] - b[0] - b[1];
            for (size_t choice = 0; choice < 9; ++choice) {
              const auto& g0 = s.gates[0][choice / 3];
              const auto& g1 = s.gates[1][choice % 3];
              if (g0.first + g1.first <= best)
                continue;
              const double load[] = {s.demand, s.demand * g0.second,
                                     s.demand * g0.second * g1.second};
              double seconds = 0.2;
              bool fits = true;
              for (size_t l = 0; l < 3; ++l) {
                // Finds the quickest way to serve the leg with these workers.
                double least = load[l] > 1e-9 ? INFINITY : 0;
                for (size_t x = 0; x < 9; ++x) {
                  double served = 0;
                  double time = 0;
                  bool possible = true;
                  const size_t pick[] = {x / 3, x % 3};
                  for (size_t d = 0; d < 2; ++d) {
                    if (pick[d] == 2)
                      continue;
                    if (s.legs[l][d].batches.empty()) {
                      possible = false;
                      continue;
                    }
                    const auto& bt = s.legs[l][d].batches[pick[d]];
                    served += (d == 0 ? a[l] : b[l]) * bt.batch / bt.seconds;
                    time = std::max(time, bt.seconds);
                  }
                  if (possible && served >= load[l] - 1e-9)
                    least = std::min(least, time);
                }
                seconds += least;
                fits = fits && std::isfinite(least);
              }
              if (fits && seconds <= s.slo + 1e-9)
                best = g0.first + g1.first;
            }
          }
    const auto plan = allocate_stages(s);
    BOOST_REQUIRE_MESSAGE(static_cast<bool>(plan) == (best >= 0),
                          "instance " << i << ", best " << best);
    if (plan)
      BOOST_REQUIRE_MESSAGE(std::abs(plan->sum - best) < 1e-6,
                            "instance " << i << ": " << plan->sum
                                        << " instead of " << best);
  }
}

// lp_solve says that the first case has no plan, scaled or not, and says the
// same about the relaxation of the second.
BOOST_AUTO_TEST_CASE(cascades_that_lp_solve_gives_up_have_their_plans) {
  const auto on = [](double one) {
    leg_times l;
    l.batches = {{1, one}, {2, one * 1.5}};
    return l;
  };
  stages_problem s;
  s.workers = {2, 1};
  s.demand = 0.38631174967424264;
  s.slo = 2.7935575782206472;
  s.waits = {0.1, 0, 0.1};
  s.legs = {{on(0.80929550452513044), on(0.13446788628342224)},
            {leg_times{}, leg_times{}},
            {on(0.88899417093963096), leg_times{}}};
  s.gates = {{{0, 0}, {0.5, 0.00045256747878802406}, {1, 0.72092098395415161}},
             {{0, 0}, {0.5, 0.1791566440018505}, {1, 0.85555533459616107}}};
  const auto first = allocate_stages(s);
  BOOST_REQUIRE(static_cast<bool>(first));
  BOOST_TEST(first->sum == 1.0, boost::test_tools::tolerance(1e-9));
  s.workers = {3, 1};
  s.demand = 1.5468133090663678;
  s.slo = 4.5940517543973121;
  s.legs = {{on(0.77162321551165514), on(0.755174642401786)},
            {leg_times{}, leg_times{}},
            {on(1.0064210690389719), on(0.95522913184715663)}};
  s.gates = {{{0, 0}, {0.5, 2.2699918757473903e-06}, {1, 0.67321445576806815}},
             {{0, 0}, {0.5, 0.080002881477255039}, {1, 0.95815710836235068}}};
  const auto second = allocate_stages(s);
  BOOST_REQUIRE(static_cast<bool>(second));
  BOOST_TEST(second->sum == 1.0, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(parts_that_do_not_fit_are_refused) {
  stages_problem s;
  BOOST_TEST((allocate_stages(s).why().code == core::ec::invalid_argument));
  s.legs = {{leg_times{}}, {leg_times{}}};
  s.gates = {{}};
  s.workers = {1};
  s.waits = {0, 0};
  BOOST_TEST((allocate_stages(s).why().code == core::ec::invalid_argument));
  s.gates = {{{0, 0}}};
  s.demand = 1;
  BOOST_TEST((allocate_stages(s).why().code == core::ec::unavailable));
}

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
