// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/diffserve/cascade_programme.hpp"
#include "planning/policies/diffserve/cascades.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/bench/papers/policies/diffserve_allocations.hpp>
#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::diffserve;
using papers::allocate_for_peak;
using papers::allocate_random;
using papers::allocate_single;

namespace {

// Images take 0.1 s and 1 s, and half of the confidences are below 0.5.
cascade_problem simple() {
  cascade_problem p;
  p.light.batches = {{1, 0.1}, {4, 0.2}};
  p.heavy.batches = {{1, 1}, {4, 2}};
  p.deferred = deferral_of({{0.25, 0.25}, {0.5, 0.5}, {0.75, 1}});
  p.workers = 8;
  p.demand = 4;
  p.slo = 5;
  return p;
}

core::ec code_of(const core::result<cascade_plan>& r) {
  return r ? core::ec::none : r.why().code;
}

// Checks a plan against Eq. 1-5.
bool holds(const cascade_problem& p, const cascade_plan& x) {
  const double e1 = batch_seconds(p.light, x.light_batch);
  const double e2 = x.heavy > 0 || x.deferred > 0
                    ? batch_seconds(p.heavy, x.heavy_batch) + p.wait_heavy
                    : 0;
  return e1 + p.wait_light + e2 <= p.slo + 1e-6
      && x.light * throughput(p.light, x.light_batch) >= p.demand - 1e-6
      && x.heavy * throughput(p.heavy, x.heavy_batch)
           >= p.demand * x.deferred - 1e-6
      && x.light + x.heavy <= p.workers;
}

} // namespace

BOOST_AUTO_TEST_SUITE(diffserve_allocation_test)

BOOST_AUTO_TEST_CASE(low_demand_defers_everything_that_it_can) {
  auto p = simple();
  const auto plan = allocate(p);
  BOOST_REQUIRE(static_cast<bool>(plan));
  // This is the least threshold at which all are deferred.
  BOOST_TEST(threshold_at(plan->threshold) == 0.75);
  BOOST_TEST(plan->deferred == 1.0);
  BOOST_TEST(plan->light + plan->heavy == 8u);
  BOOST_TEST((plan->step == cascade_step::as_asked));
  p.demand = 0;
  BOOST_TEST(allocate(p)->deferred == 1.0);
}

BOOST_AUTO_TEST_CASE(more_demand_lowers_the_threshold) {
  auto p = simple();
  p.demand = 20;
  // Two light workers work one by one. 6 heavy workers serve 12 a second, and
  // the quicker light batch does not change the threshold.
  const auto plan = allocate(p);
  BOOST_TEST(threshold_at(plan->threshold) == 0.5);
  BOOST_TEST(plan->light_batch == 1u);
  BOOST_TEST(plan->heavy_batch == 4u);
  p.most_deferred = 0.4;
  BOOST_TEST(threshold_at(allocate(p)->threshold) == 0.25);
  p.most_deferred = 0;
  BOOST_TEST(allocate(p)->threshold == 0u);
}

BOOST_AUTO_TEST_CASE(equal_thresholds_take_the_quicker_batches) {
  auto p = simple();
  p.demand = 1;
  const auto plan = allocate(p);
  BOOST_TEST(plan->light_batch == 1u);
  BOOST_TEST(plan->heavy_batch == 1u);
}

BOOST_AUTO_TEST_CASE(waits_take_from_the_deadline) {
  auto p = simple();
  p.demand = 20;
  p.wait_light = 1;
  p.wait_heavy = 2.5;
  // 5 - 3.5 leaves no time for heavy batches of 4.
  const auto plan = allocate(p);
  BOOST_TEST(plan->heavy_batch == 1u);
  BOOST_TEST(threshold_at(plan->threshold) == 0.25);
  p.execution_factor = 2;
  BOOST_TEST(allocate(p)->threshold == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_too_much_is_simplified_step_by_step) {
  auto p = simple();
  p.wait_light = 9;
  const auto bare = allocate(p);
  BOOST_TEST((bare->step == cascade_step::without_waits));
  BOOST_TEST(bare->deferred == 1.0);
  p.wait_light = 0;
  // The heavy leg does not fit at all.
  p.slo = 0.5;
  const auto light = allocate(p);
  BOOST_TEST((light->step == cascade_step::as_asked));
  BOOST_TEST(light->threshold == 0u);
  BOOST_TEST(light->light == 8u);
  BOOST_TEST(light->heavy == 0u);
  p.demand = 1000;
  const auto shed = allocate(p);
  BOOST_TEST((shed->step == cascade_step::shedding));
  BOOST_TEST(shed->light_batch == 4u);
  BOOST_TEST(shed->admitted == 160.0, boost::test_tools::tolerance(1e-9));
  p.slo = 0.05;
  BOOST_TEST((code_of(allocate(p)) == core::ec::bad_config));
}

BOOST_AUTO_TEST_CASE(what_is_no_problem_is_refused) {
  using core::ec;
  const auto code = [](auto change) {
    auto p = simple();
    change(p);
    return code_of(allocate(p));
  };
  BOOST_TEST(
    (code([](auto& p) { p.light.batches.clear(); }) == ec::invalid_argument));
  BOOST_TEST((code([](auto& p) { p.heavy.batches[0].seconds = NAN; })
              == ec::invalid_argument));
  BOOST_TEST((code([](auto& p) { p.demand = NAN; }) == ec::invalid_argument));
  BOOST_TEST((code([](auto& p) { p.slo = -1; }) == ec::invalid_argument));
  BOOST_TEST((code([](auto& p) { p.workers = 0; }) == ec::unavailable));
}

BOOST_AUTO_TEST_CASE(a_fixed_threshold_or_batch_is_kept_where_it_can_be) {
  auto p = simple();
  p.demand = 20;
  p.threshold = 50;
  BOOST_TEST(allocate(p)->threshold == 50u);
  p.threshold = 150;
  // No plan can serve this load at the threshold, so the threshold is lowered.
  const auto plan = allocate(p);
  BOOST_TEST(threshold_at(plan->threshold) == 0.5);
  p.threshold.reset();
  p.light_batch = 2;
  p.heavy_batch = 1;
  const auto fixed = allocate(p);
  BOOST_TEST(fixed->light_batch == 2u);
  BOOST_TEST(fixed->heavy_batch == 1u);
}

BOOST_AUTO_TEST_CASE(all_go_to_the_heavy_leg_where_all_are_deferred) {
  auto p = simple();
  p.bypass = true;
  p.demand = 15.5;
  // 8 workers with batches of 4 serve 16 a second. With a light leg, 7 serve
  // 14.
  const auto plan = allocate(p);
  BOOST_TEST(plan->direct);
  BOOST_TEST(plan->heavy == 8u);
  p.bypass = false;
  BOOST_TEST(allocate(p)->deferred == 0.5);
  p.bypass = true;
  p.most_deferred = 0.6;
  BOOST_TEST(!allocate(p)->direct);
}

BOOST_AUTO_TEST_CASE(first_plans_halve_the_workers) {
  auto p = simple();
  p.workers = 7;
  const auto plan = first_plan(p);
  BOOST_TEST(plan.light == 4u);
  BOOST_TEST(plan.heavy == 3u);
  BOOST_TEST(plan.light_batch == 4u);
  BOOST_TEST(threshold_at(plan.threshold) == 1.0);
}

BOOST_AUTO_TEST_CASE(the_programme_equals_the_closed_form) {
  size_t feasible = 0;
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random);
    const auto closed = allocate(p);
    const auto programme = test::allocate_by_programme(p);
    const bool as_asked = closed && closed->step == cascade_step::as_asked;
    BOOST_REQUIRE_MESSAGE(
      as_asked == static_cast<bool>(programme),
      "instance " << i << " "
                  << (programme ? "has a plan" : programme.why().text));
    if (!as_asked)
      continue;
    ++feasible;
    BOOST_REQUIRE_MESSAGE(holds(p, *closed), "instance " << i);
    BOOST_REQUIRE_MESSAGE(holds(p, *programme), "instance " << i);
    BOOST_REQUIRE_MESSAGE(
      closed->threshold == programme->threshold,
      "instance " << i << ": " << threshold_at(closed->threshold)
                  << ", the programme " << threshold_at(programme->threshold));
  }
  BOOST_TEST(feasible > 0u);
}

BOOST_AUTO_TEST_CASE(no_other_split_has_a_higher_threshold) {
  for (size_t i = 0; i < test::scaled(100'000); ++i) {
    auto random = test::random_of(i);
    auto p = test::random_problem(random);
    p.workers = 1 + p.workers % 6;
    const auto plan = allocate(p);
    if (!plan || plan->step != cascade_step::as_asked)
      continue;
    for (const auto& b1 : p.light.batches)
      for (const auto& b2 : p.heavy.batches)
        for (uint32_t x1 = 0; x1 <= p.workers; ++x1) {
          cascade_plan other;
          other.light = x1;
          other.heavy = p.workers - x1;
          other.light_batch = b1.batch;
          other.heavy_batch = b2.batch;
          for (size_t k = plan->threshold + 1; k < thresholds; k += 7) {
            other.threshold = k;
            other.deferred = p.deferred[k];
            if (other.deferred > plan->deferred + 1e-9)
              BOOST_REQUIRE_MESSAGE(!holds(p, other), "instance " << i);
          }
        }
  }
}

BOOST_AUTO_TEST_CASE(baselines_allocate_as_described) {
  auto p = simple();
  p.demand = 20;
  // 7 heavy workers serve 2 a second each and 1 light worker serves 20: 14 of
  // 20 requests are heavy.
  const auto random = allocate_random(p);
  BOOST_TEST(random->heavy == 7u);
  BOOST_TEST(random->deferred == 0.7, boost::test_tools::tolerance(1e-9));
  p.slo = 1.9;
  // 2 e <= slo excludes every heavy batch, so that all requests are light.
  BOOST_TEST(allocate_random(p)->heavy == 0u);
  p.slo = 5;
  p.demand = 1e4;
  BOOST_TEST((allocate_random(p)->step == cascade_step::shedding));
  BOOST_TEST(allocate_random(p)->admitted == 160.0,
             boost::test_tools::tolerance(1e-9));
  const auto heavy = allocate_single(p, true, 1);
  BOOST_TEST(heavy.heavy == 8u);
  BOOST_TEST(heavy.direct);
  BOOST_TEST(allocate_single(p, false, 4).light == 8u);
  BOOST_TEST(allocate_for_peak(p, 20)->deferred == 0.5);
}

BOOST_AUTO_TEST_CASE(random_shares_are_the_largest) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto p = test::random_problem(random);
    const auto plan = allocate_random(p);
    if (!plan || plan->step == cascade_step::shedding)
      continue;
    for (const auto& b1 : p.light.batches)
      for (const auto& b2 : p.heavy.batches) {
        if (2 * std::max(b1.seconds, b2.seconds) > p.slo)
          continue;
        for (uint32_t x2 = 0; x2 <= p.workers; ++x2) {
          const double h = std::min(1.0, x2 * b2.batch / b2.seconds / p.demand);
          if ((p.workers - x2) * b1.batch / b1.seconds >= p.demand * (1 - h))
            BOOST_REQUIRE_MESSAGE(h <= plan->deferred + 1e-9, "instance " << i);
        }
      }
  }
}

BOOST_AUTO_TEST_CASE(published_cascades_give_the_published_thresholds) {
  const auto folder = test::diffserve_data();
  if (!folder) {
    BOOST_TEST_MESSAGE("skipped: ATELIER_REFERENCE_DATA is not set");
    BOOST_TEST(true);
    return;
  }

  struct golden {
    const char* light;
    const char* heavy;
    double slo;
    std::vector<std::pair<double, double>> demand_and_threshold;
  };

  const golden all[] = {
    {"sd-turbo",
     "sd-v1.5",
     5,
     {{4, .56},
      {12, .56},
      {16, .485},
      {20, .26},
      {24, .215},
      {28, .15},
      {32, .1}}},
    {"sdxs",
     "sd-v1.5",
     5,
     {{4, .505},
      {12, .505},
      {16, .485},
      {20, .34},
      {24, .26},
      {28, .225},
      {32, .19}}},
    {"sdxl-lightning",
     "sdxl",
     15,
     {{1, .505},
      {2, .505},
      {3, .39},
      {4, .25},
      {5, .18},
      {6, .135},
      {7, .09},
      {8, .07}}},
  };
  for (const golden& g : all) {
    auto p = test::published_cascade(*folder, g.light, g.heavy, g.slo);
    for (const auto& [demand, threshold] : g.demand_and_threshold) {
      p.demand = demand * over_provisioning;
      const auto plan = allocate(p);
      BOOST_REQUIRE(static_cast<bool>(plan));
      BOOST_TEST(threshold_at(plan->threshold) == threshold,
                 boost::test_tools::tolerance(1e-9));
      const auto programme = test::allocate_by_programme(p);
      BOOST_REQUIRE(static_cast<bool>(programme));
      BOOST_TEST(programme->threshold == plan->threshold);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cap_at_the_best_mix_is_never_worse_on_the_tables) {
  const auto folder = test::diffserve_data();
  if (!folder) {
    BOOST_TEST_MESSAGE("skipped: ATELIER_REFERENCE_DATA is not set");
    BOOST_TEST(true);
    return;
  }
  const std::pair<const char*, const char*> all[] = {
    {"sd-turbo", "sd-v1.5"}, {"sdxs", "sd-v1.5"}, {"sdxl-lightning", "sdxl"}};
  for (const auto& [light, heavy] : all) {
    auto p = test::published_cascade(*folder, light, heavy,
                                     std::string{heavy} == "sdxl" ? 15 : 5);
    quality_table fid;
    for (const auto& f : test::lines_of(*folder + "fid.csv"))
      if (f[0] == std::string{light} + ":" + heavy)
        fid.emplace_back(std::stod(f[1]), std::stod(f[2]));
    BOOST_REQUIRE(fid.size() == 11u);
    for (double demand = 0.5; demand < 40; demand += 0.5) {
      p.demand = demand;
      p.most_deferred = 1;
      const auto plain = allocate(p);
      p.most_deferred = 1 - best_light_share(fid);
      const auto capped = allocate(p);
      BOOST_REQUIRE(plain && capped);
      BOOST_TEST(quality_at(fid, 1 - capped->deferred)
                 <= quality_at(fid, 1 - plain->deferred) + 1e-9);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
