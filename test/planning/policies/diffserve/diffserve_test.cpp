// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include <atelier/planning/policies/diffserve/diffserve.hpp>
#include <atelier/planning/policies/diffserve/diffserve_memory.hpp>
#include <atelier/planning/walk.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

test::scene scene_at(std::string_view name, double rate) {
  test::scene s{name};
  s.window(rate);
  s.replan();
  s.load();
  s.replan();
  return s;
}

double threshold_of(const test::scene& s) {
  return s.now.thresholds.at(0);
}

} // namespace

BOOST_AUTO_TEST_SUITE(diffserve_policy_test)

BOOST_AUTO_TEST_CASE(legs_are_measured_batches_with_all_their_images) {
  auto known = test::full_profile();
  known.variants[2].text = 5ms;
  const auto light = leg_of(known, core::variant_id{2}, 4, 10ms);
  BOOST_REQUIRE(light.batches.size() == 2u);
  BOOST_TEST(light.batches[0].seconds == 0.115,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(light.batches[1].seconds == 0.28,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(leg_of(known, core::variant_id{2}, 2, 10ms).batches.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_threshold_falls_as_demand_rises) {
  double before = 2;
  for (const double rate : {0.2, 1.4, 2.0, 3.0, 4.0}) {
    const auto s = scene_at("diffserve-paper", rate);
    BOOST_TEST(threshold_of(s) <= before);
    before = threshold_of(s);
    BOOST_TEST(s.hosting(0) + s.hosting(2) == 8u);
  }
  BOOST_TEST(before == 0.25);
}

BOOST_AUTO_TEST_CASE(requests_are_judged_and_deferred_once) {
  const auto s = scene_at("diffserve-paper", 1.4);
  const auto& r = s.route({});
  BOOST_REQUIRE(r.legs.size() == 2u);
  BOOST_TEST(r.legs[0].check->judge == "eye");
  BOOST_TEST((r.late == late_rule::drop));
  facts known;
  outcome light;
  light.score = threshold_of(s);
  known.done = {light};
  BOOST_TEST((walk(r, known, s.now) == action{answer_with{0}}));
  known.done[0].score = threshold_of(s) - 0.01;
  BOOST_TEST((walk(r, known, s.now) == action{run_leg{1}}));
  outcome heavy;
  heavy.leg = 1;
  known.done.push_back(heavy);
  BOOST_TEST((walk(r, known, s.now) == action{answer_with{1}}));
  BOOST_TEST(
    (scene_at("diffserve", 1.4).route({}).late == late_rule::answer_best));
}

BOOST_AUTO_TEST_CASE(batches_join_whole_and_late_ones_are_not_taken) {
  auto s = scene_at("diffserve-paper", 1.4);
  s.load();
  size_t heavy = 0;
  while (s.there.workers[heavy].hosting[0].value != 0)
    ++heavy;
  const auto& a = s.now.workers[heavy];
  BOOST_TEST((a.join == joining::whole_batch));
  BOOST_TEST((a.batch_time >= 4s));
  auto fine = test::waits(1, 0, core::priority::normal, test::at_s(100));
  auto late = test::waits(2, 0, core::priority::normal, test::at_s(13));
  const std::vector<waiting> queue{late, fine};
  const auto t =
    s.sut->take(s.there.workers[heavy], queue, s.now, test::at_s(10));
  BOOST_TEST((t.join == std::vector{core::request_id{1}}));
  BOOST_TEST((t.late == std::vector{core::request_id{2}}));
  // A batch of five would take 8 s, so the plan reduces it to two.
  s.now.workers[heavy].batch = 5;
  s.now.workers[heavy].batch_time = 8s;
  const auto two = s.sut->take(
    s.there.workers[heavy],
    std::vector{
      test::waits(1, 0, core::priority::normal, test::at_s(12)),
      test::waits(2, 0, core::priority::normal, test::at_s(12) - 1ms)},
    s.now, test::at_s(10));
  BOOST_TEST((two.join == std::vector{core::request_id{1}}));
  BOOST_TEST((two.late == std::vector{core::request_id{2}}));
}

BOOST_AUTO_TEST_CASE(trial_batches_that_leave_no_heavy_leg_shrink) {
  auto s = scene_at("aimd", 1);
  bool was_off = false;
  bool ever_off = false;
  for (int i = 0; i < 20; ++i) {
    s.window(1);
    s.replan();
    s.load();
    const auto& workers = s.now.workers;
    const bool off =
      std::none_of(workers.begin(), workers.end(), [](const assignment& a) {
        return a.hosting.front().value == 0;
      });
    BOOST_TEST(!(off && was_off));
    was_off = off;
    ever_off = ever_off || off;
  }
  BOOST_TEST(ever_off);
}

BOOST_AUTO_TEST_CASE(seen_confidences_change_the_threshold) {
  auto s = scene_at("diffserve-paper", 3);
  const double before = threshold_of(s);
  // Every light image is poor.
  auto& w = s.window(3);
  w.confidences.assign(201, 0);
  w.confidences[10] = 100'000;
  s.replan();
  BOOST_TEST(threshold_of(s) < before);
}

BOOST_AUTO_TEST_CASE(waiting_requests_take_from_the_deadline) {
  auto s = scene_at("diffserve-paper", 0.2);
  BOOST_TEST(threshold_of(s) == 0.75);
  auto& w = s.window(0.2);
  w.placed = {12, 0, 12};
  s.asked.waiting = {1, 0, 0};
  s.replan();
  // Five seconds of waiting leave the heavy leg no time.
  BOOST_TEST(s.route({}).name == "turbo@1");
}

BOOST_AUTO_TEST_CASE(overload_admits_what_the_light_leg_can_do) {
  auto s = scene_at("diffserve", 500);
  BOOST_REQUIRE(s.now.admitted_rates.size() == 1u);
  BOOST_TEST(s.now.admitted_rates[0] < 150.0);
  BOOST_TEST(s.route({}).name == "turbo@1");
  s.window(500);
  s.replan();
  BOOST_TEST(s.now.saturated);
}

BOOST_AUTO_TEST_CASE(without_demand_the_plan_stays) {
  auto s = scene_at("diffserve-paper", 1.4);
  s.load();
  const auto before = s.now;
  s.asked.windows.clear();
  s.window(0);
  s.replan();
  BOOST_TEST((s.now.workers == before.workers));
  BOOST_TEST((s.now.thresholds == before.thresholds));
  BOOST_TEST(s.now.version == before.version + 1);
}

BOOST_AUTO_TEST_CASE(nothing_goes_to_a_variant_that_nobody_has_yet) {
  test::scene s{"diffserve-paper"};
  s.window(1.4);
  s.replan();
  // All workers host the heavy variant, and the light one is loading.
  BOOST_TEST(s.hosting(2) > 0u);
  BOOST_TEST(s.route({}).name == "base@50");
  s.load();
  s.replan();
  BOOST_TEST(s.route({}).name == "cascade");
}

BOOST_AUTO_TEST_CASE(what_the_plan_gives_up_gets_no_more_requests) {
  // The only worker hosts the heavy variant. The remaining requests for it
  // would keep it there forever.
  for (const auto* name : {"diffserve", "diffserve-paper"})
    BOOST_TEST_CONTEXT(name) {
      test::scene s{name, 1};
      for (int i = 0; i < 5; ++i) {
        s.window(4);
        s.replan();
      }
      BOOST_TEST(s.hosting(2) == 1u);
      BOOST_TEST(s.route({}).name == s.known.variants[2].name);
    }
}

BOOST_AUTO_TEST_CASE(the_first_plan_halves_the_workers) {
  test::scene s{"diffserve-paper"};
  s.replan();
  BOOST_TEST(s.hosting(2) == 4u);
  BOOST_TEST(s.hosting(0) == 4u);
  BOOST_TEST(threshold_of(s) == 1.0);
}

BOOST_AUTO_TEST_CASE(the_cap_keeps_the_best_mix) {
  // The best measured quality is at half light.
  const auto s = scene_at("diffserve", 0.2);
  BOOST_TEST(threshold_of(s) == 0.5);
  BOOST_TEST(threshold_of(scene_at("diffserve-paper", 0.2)) == 0.75);
}

BOOST_AUTO_TEST_CASE(static_plans_stay_and_trial_batches_move) {
  auto fixed = scene_at("diffserve-static", 0.2);
  const double before = threshold_of(fixed);
  fixed.window(3);
  fixed.replan();
  BOOST_TEST(threshold_of(fixed) == before);
  auto trial = scene_at("aimd", 0.5);
  const auto light = [&] {
    return trial.now.memory.as<diffserve_memory>()->light.batch;
  };
  BOOST_TEST(light() == 1u);
  trial.window(0.5);
  trial.replan();
  BOOST_TEST(light() == 4u);
  trial.window(0.5).late = 1;
  trial.replan();
  BOOST_TEST(light() == 1u);
}

BOOST_AUTO_TEST_CASE(plans_for_all_time_come_from_the_profile) {
  const auto of = [](std::string_view name, double peak, bool fixed) {
    test::scene s{name};
    s.known.cascades[0].peak_rate = peak;
    if (fixed)
      s.known.cascades[0].fixed = fixed_cascade{0.1, 1, 3, 4, 1};
    s.window(0.2);
    s.replan();
    return s;
  };
  const auto given = of("diffserve-static", 4, true);
  BOOST_TEST(threshold_of(given) == 0.1);
  BOOST_TEST(given.hosting(2) == 2u);
  BOOST_TEST(given.hosting(0) == 6u);
  // The plan is made for four a second although the policy sees fewer.
  BOOST_TEST(threshold_of(of("diffserve-peak", 4, true)) == 0.25);
  BOOST_TEST(threshold_of(of("diffserve-static", 4, false)) == 0.25);
  BOOST_TEST(threshold_of(of("diffserve-static", 0, false)) == 0.75);
  // The threshold stays; workers and batches follow the demand.
  auto threshold = of("static-threshold", 3, false);
  BOOST_TEST(threshold_of(threshold) == 0.5);
  for (int i = 0; i < 5; ++i)
    threshold.window(1);
  threshold.replan();
  BOOST_TEST(threshold_of(threshold) == 0.5);
}

BOOST_AUTO_TEST_CASE(one_variant_on_all_workers_finds_its_batch_by_trial) {
  auto s = scene_at("light-aimd", 0.5);
  BOOST_TEST(s.hosting(2) == 8u);
  s.window(0.5);
  s.replan();
  s.load();
  s.replan();
  BOOST_TEST(s.now.workers[0].batch == 4u);
  BOOST_TEST(s.route({}).name == "turbo@1");
  BOOST_TEST(scene_at("heavy-aimd", 9).hosting(0) == 8u);
}

BOOST_AUTO_TEST_CASE(without_a_queueing_model_waits_count_otherwise) {
  const auto waits = [](std::string_view name) {
    auto s = scene_at(name, 0.2);
    auto& w = s.window(0.2);
    w.placed = {12, 0, 12};
    s.asked.waiting = {1, 0, 0};
    s.replan();
    return s;
  };
  BOOST_TEST(waits("no-waits").route({}).name == "cascade");
  // Twice the execution time of a full image does not fit the deadline.
  BOOST_TEST(waits("no-queueing").route({}).name == "turbo@1");
}

BOOST_AUTO_TEST_CASE(random_routing_draws_the_heavy_share) {
  const auto s = scene_at("diffserve-proteus", 3);
  size_t heavy = 0;
  for (uint64_t id = 0; id < 1000; ++id)
    heavy += s.route({}, {}, id).name == "base@50" ? 1u : 0u;
  double share = 0;
  for (size_t r = 0; r < s.now.routes.size(); ++r)
    if (s.now.routes[r].name == "base@50")
      share += s.now.share[0][r];
  BOOST_TEST(std::abs(static_cast<double>(heavy) / 1000 - share) < 0.06);
  BOOST_TEST(scene_at("random-cascade", 1.4).route({}).legs[0].check->judge
             == "random");
  BOOST_TEST(threshold_of(scene_at("random-cascade", 1.4)) > 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
