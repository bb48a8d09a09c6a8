// SPDX-License-Identifier: Apache-2.0
#include "actors/recorders.hpp"
#include <atelier/actors/monitor.hpp>
#include <atelier/actors/planner.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/simulation/virtual_offload.hpp>
#include <atelier/simulation/virtual_timers.hpp>

#include <stdexcept>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

using numbers = std::vector<uint64_t>;

/// Vanilla, which fails when a test says so.
struct watched_policy : planning::vanilla {
  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    if (throws)
      throw std::runtime_error("no basis");
    last_now = asked.now;
    last_waiting = there.waiting;
    last_step = known.variants[0].step[0].took;
    auto next = vanilla::replan(asked, known, there, previous);
    next.provisional = hasty;
    return next;
  }

  bool throws = false;
  bool hasty = false;
  mutable core::time_point last_now;
  mutable numbers last_waiting;
  mutable core::timespan last_step{0};
};

struct fixture : test::deterministic_system {
  fixture() {
    timers = std::make_shared<runtime::virtual_timers>(sys);
    offload = std::make_shared<runtime::virtual_offload>(timers);
    scheduler = spawn(test::listening_scheduler, heard);
    actors::monitor_config m;
    m.scheduler = scheduler;
    m.windows = 3;
    monitor = spawn(actors::monitor, m);
    actors::planner_config& c = config;
    c.scheduler = scheduler;
    c.counts = monitor;
    c.policy = policy;
    c.profile = test::card_profile();
    c.initial_plan = std::make_shared<planning::plan>();
    c.offload = offload;
    planner = spawn(actors::planner, c);
  }

  void worker_came() {
    planning::cluster_view there;
    there.workers.resize(++workers);
    caf::anon_send(planner, actors::cluster_changed{there});
  }

  std::vector<uint64_t> versions() const {
    std::vector<uint64_t> all;
    for (const auto& p : heard->plans)
      all.push_back(p->version);
    return all;
  }

  std::shared_ptr<test::heard_by_scheduler> heard =
    std::make_shared<test::heard_by_scheduler>();
  std::shared_ptr<runtime::virtual_timers> timers;
  std::shared_ptr<runtime::virtual_offload> offload;
  actors::scheduler_actor scheduler;
  actors::monitor_actor monitor;
  actors::planner_actor planner;
  actors::planner_config config;
  std::shared_ptr<watched_policy> policy = std::make_shared<watched_policy>();
  size_t workers = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(planner_test, fixture)

BOOST_AUTO_TEST_CASE(a_plan_is_made_every_period) {
  advance(29s);
  BOOST_TEST(heard->plans.empty());
  advance(61s + 5ms);
  BOOST_TEST((versions() == numbers{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_worker_that_comes_is_planned_for_at_once) {
  worker_came();
  advance(5ms);
  BOOST_REQUIRE((versions() == numbers{1}));
  BOOST_TEST(heard->plans[0]->workers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(it_tells_for_how_many_devices_it_has_planned) {
  const auto told = [&] {
    return ask<actors::planner_status>(planner, actors::status_atom::value)
      .devices;
  };
  BOOST_TEST(told() == 0u);
  worker_came();
  worker_came();
  BOOST_TEST(told() == 0u);
  advance(20ms);
  BOOST_TEST(told() == 2u);
  // Clients that wait for a plan must not wait forever.
  policy->throws = true;
  worker_came();
  advance(20ms);
  BOOST_TEST(told() == 3u);
}

BOOST_AUTO_TEST_CASE(the_dead_are_in_no_plan_a_moment_after_their_death) {
  planning::cluster_view there;
  for (uint32_t i = 1; i <= 4; ++i) {
    planning::worker_view w;
    w.worker = core::worker_id{i};
    there.workers.push_back(w);
  }
  caf::anon_send(planner, actors::cluster_changed{there});
  advance(config.period / 3);
  BOOST_REQUIRE(heard->plans.size() == 1u);
  BOOST_TEST(heard->plans.back()->workers.size() == 4u);
  // Half of the workers die at one moment, and their deaths are reported one by
  // one.
  for (int dead = 0; dead < 2; ++dead) {
    there.workers.erase(there.workers.begin());
    caf::anon_send(planner, actors::cluster_changed{there});
  }
  advance(config.period / 3);
  BOOST_TEST(heard->plans.size() >= 2u);
  std::vector<uint32_t> planned;
  for (const auto& w : heard->plans.back()->workers)
    planned.push_back(w.worker.value);
  BOOST_TEST((planned == std::vector<uint32_t>{3, 4}));
}

BOOST_AUTO_TEST_CASE(what_waits_without_a_host_gets_one) {
  worker_came();
  heard->counts.waiting = heard->counts.waiting_shared = {0, 1};
  advance(31s);
  BOOST_REQUIRE(!heard->plans.empty());
  BOOST_TEST(heard->plans.front()->workers.at(0).hosting.empty());
  BOOST_TEST((heard->plans.back()->workers.at(0).hosting
              == std::vector{core::variant_id{1}}));
}

BOOST_AUTO_TEST_CASE(what_waits_is_told_to_the_next_plan_alone) {
  planning::cluster_view there;
  there.workers.resize(1);
  auto waiting = there;
  waiting.unhosted = {core::variant_id{0}};
  waiting.waiting = {3};
  caf::anon_send(planner, actors::cluster_changed{waiting});
  caf::anon_send(planner, actors::cluster_changed{there});
  advance(5ms);
  BOOST_REQUIRE(!heard->plans.empty());
  BOOST_TEST((policy->last_waiting == numbers{3}));
  advance(config.period);
  BOOST_TEST(policy->last_waiting.empty());
}

BOOST_AUTO_TEST_CASE(a_plan_made_in_haste_is_followed_by_one_more) {
  policy->hasty = true;
  worker_came();
  advance(20s);
  BOOST_TEST((versions() == numbers{1, 2}));
}

BOOST_AUTO_TEST_CASE(events_while_a_plan_is_made_lead_to_one_more) {
  for (int i = 0; i < 5; ++i)
    worker_came();
  advance(1s);
  BOOST_REQUIRE((versions() == numbers{1, 2}));
  BOOST_TEST(heard->plans[1]->workers.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_late_solver_delays_the_plan_and_loses_no_event) {
  offload->delay(40s);
  worker_came();
  advance(31s);
  worker_came();
  run();
  BOOST_TEST(heard->plans.empty());
  offload->delay(0s);
  advance(9s + 100ms);
  BOOST_REQUIRE((versions() == numbers{1, 2}));
  BOOST_TEST(heard->plans[0]->workers.size() == 1u);
  BOOST_TEST(heard->plans[1]->workers.size() == 2u);
}

BOOST_AUTO_TEST_CASE(where_the_offload_is_full_the_next_period_tries_again) {
  offload->refuse(true);
  worker_came();
  advance(1s);
  BOOST_TEST(heard->plans.empty());
  offload->refuse(false);
  advance(28s);
  BOOST_TEST(heard->plans.empty());
  advance(2s);
  BOOST_REQUIRE((versions() == numbers{1}));
  BOOST_TEST(heard->plans[0]->workers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_monitor_plans_are_made_all_the_same) {
  kill(monitor);
  worker_came();
  advance(1s);
  BOOST_TEST((versions() == numbers{1}));
}

BOOST_AUTO_TEST_CASE(a_policy_that_throws_leaves_the_last_plan_in_force) {
  policy->throws = true;
  worker_came();
  advance(1s);
  BOOST_TEST(heard->plans.empty());
  BOOST_TEST(state<actors::planner_state>(planner).failures == 1u);
  policy->throws = false;
  advance(30s);
  BOOST_TEST((versions() == numbers{1}));
}

BOOST_AUTO_TEST_CASE(a_solver_that_does_not_come_back_is_given_up) {
  offload->delay(200s);
  worker_came();
  advance(1s);
  offload->delay(0s);
  // The planner waits for two minutes. Then the next period tries again.
  advance(118s);
  BOOST_TEST(heard->plans.empty());
  advance(2s);
  BOOST_TEST((versions() == numbers{1}));
  // The first solver's result is too late.
  advance(90s);
  BOOST_TEST((versions() == numbers{1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(a_jump_of_the_load_is_planned_for_at_once) {
  const auto windows = [&](int n, uint64_t each) {
    for (int i = 0; i < n; ++i) {
      heard->counts.arrived += each;
      advance(10s);
    }
  };
  windows(4, 100);
  const auto before = heard->plans.size();
  windows(1, 110);
  BOOST_TEST(heard->plans.size() == before);
  windows(1, 400);
  advance(10ms);
  BOOST_TEST(heard->plans.size() >= before + 1);
  const auto after = heard->plans.size();
  // This load is the one that was planned for.
  heard->counts.arrived += 400;
  advance(9s);
  BOOST_TEST(heard->plans.size() <= after + 1);
}

BOOST_AUTO_TEST_CASE(events_that_follow_closely_share_a_plan) {
  kill(planner);
  config.least_gap = 100ms;
  planner = spawn(actors::planner, config);
  worker_came();
  advance(5ms);
  BOOST_TEST(heard->plans.size() == 1u);
  for (int i = 0; i < 5; ++i) {
    worker_came();
    advance(10ms);
  }
  BOOST_TEST(heard->plans.size() == 1u);
  advance(100ms);
  BOOST_TEST(heard->plans.size() == 2u);
  BOOST_TEST(heard->plans.back()->workers.size() == 6u);
}

BOOST_AUTO_TEST_CASE(policies_are_told_the_time) {
  worker_came();
  advance(1s);
  BOOST_TEST((policy->last_now == now() - 1s));
}

// -- monitor ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(windows_hold_what_the_counts_rose_and_the_oldest_goes) {
  const auto begin = now();
  for (uint64_t i = 1; i <= 5; ++i) {
    heard->counts.arrived += 10 * i;
    heard->counts.answered += i;
    heard->counts.late += 1;
    advance(10s);
  }
  const auto asked = ask<planning::demand>(monitor, actors::demand_atom::value);
  BOOST_REQUIRE(asked.windows.size() == 3u);
  for (size_t i = 0; i < 3; ++i) {
    BOOST_TEST((asked.windows[i].begin == begin + 10s * (i + 2)));
    BOOST_TEST((asked.windows[i].length == 10s));
    BOOST_TEST(asked.windows[i].arrived == 10 * (i + 3));
    BOOST_TEST(asked.windows[i].answered == i + 3);
    BOOST_TEST(asked.windows[i].late == 1u);
  }
  BOOST_TEST(asked.backlog == 150u - 15u);
}

BOOST_AUTO_TEST_CASE(a_window_holds_what_policies_estimate_from) {
  auto& c = heard->counts;
  c.searched = 5;
  c.hits = 3;
  c.predictions = {1, 2, 3, 4, 5};
  c.skips = {{10, 2}, {20, 1}};
  c.predicted = {{1, 2}, {3}};
  c.confidences = {4, 0, 1};
  c.placed = {7};
  c.extra_work = {-1.5};
  c.extra_pixels = {1};
  c.waiting = {2, 3};
  c.waiting_shared = {0, 3};
  c.retrievals = {{0.1, false}, {0.2, true}};
  c.retrieved = 2;
  advance(10s);
  c.searched = 7;
  c.predictions = {2, 4, 6, 8, 10};
  c.skips = {{10, 2}, {20, 4}};
  c.predicted = {{1, 5}, {3}, {1}};
  c.confidences = {4, 1, 1};
  c.extra_work = {-2};
  c.extra_pixels = {0.5};
  c.retrievals = {{0.2, true}, {0.3, false}};
  c.retrieved = 3;
  advance(10s);
  const auto asked = ask<planning::demand>(monitor, actors::demand_atom::value);
  BOOST_REQUIRE(asked.windows.size() == 2u);
  const auto& w = asked.windows[1];
  BOOST_TEST(w.searched == 2u);
  BOOST_TEST(w.hits == 0u);
  BOOST_TEST((w.predictions == planning::prediction_tally{1, 2, 3, 4, 5}));
  BOOST_REQUIRE(w.skips.size() == 1u);
  BOOST_TEST((w.skips[0] == std::pair<uint32_t, uint64_t>{20, 3}));
  BOOST_TEST(
    (w.predicted == std::vector<std::vector<uint64_t>>{{0, 3}, {0}, {1}}));
  BOOST_TEST((w.confidences == numbers{0, 1, 0}));
  BOOST_TEST((w.extra_work == std::vector{-0.5}));
  BOOST_TEST((w.extra_pixels == std::vector{-0.5}));
  BOOST_REQUIRE(w.retrievals.size() == 1u);
  BOOST_TEST(w.retrievals[0].seconds == 0.3);
  BOOST_TEST((asked.waiting == numbers{2, 3}));
  BOOST_TEST((asked.waiting_shared == numbers{0, 3}));
}

BOOST_AUTO_TEST_CASE(plans_are_made_for_the_sizes_that_are_asked_for) {
  advance(31s);
  const auto usual = policy->last_step;
  BOOST_TEST((usual == config.profile->variants[0].step[0].took));
  // Each request is a quarter of an image.
  heard->counts.arrived = 4;
  heard->counts.extra_work = {-3};
  advance(31s);
  BOOST_TEST((policy->last_step == usual / 4));
}

BOOST_AUTO_TEST_CASE(plans_are_made_for_what_steps_were_told_to_take) {
  worker_came();
  advance(1s);
  const auto usual = config.profile->variants[0].step[0].took;
  BOOST_TEST((policy->last_step == usual));
  planning::cluster_view there;
  there.workers.resize(workers);
  planning::variant_cost slower;
  slower.pace = 5;
  there.costs = {{"", {slower, {}}}};
  caf::anon_send(planner, actors::cluster_changed{there});
  advance(31s);
  BOOST_TEST((policy->last_step == 5 * usual));
  BOOST_TEST((config.profile->variants[0].step[0].took == usual));
}

BOOST_AUTO_TEST_CASE(before_the_first_window_there_is_none) {
  const auto asked = ask<planning::demand>(monitor, actors::demand_atom::value);
  BOOST_TEST(asked.windows.empty());
}

BOOST_AUTO_TEST_CASE(a_scheduler_that_does_not_answer_costs_its_windows) {
  heard->answers = false;
  advance(20s);
  heard->answers = true;
  heard->counts.arrived = 4;
  advance(10s);
  const auto asked = ask<planning::demand>(monitor, actors::demand_atom::value);
  BOOST_REQUIRE(asked.windows.size() == 1u);
  BOOST_TEST((asked.windows[0].length == 30s));
  BOOST_TEST(asked.windows[0].arrived == 4u);
}

BOOST_AUTO_TEST_CASE(
  what_operators_wish_is_in_the_next_plan_and_the_later_ones) {
  using variants = std::vector<core::variant_id>;
  const core::variant_id first{0};
  const core::variant_id second{1};
  worker_came();
  advance(5ms);
  caf::anon_send(planner, actors::wish_hosting{{second}, true});
  advance(5ms);
  BOOST_REQUIRE(!heard->plans.empty());
  BOOST_TEST((heard->plans.back()->workers.at(0).hosting == variants{second}));
  BOOST_TEST((heard->plans.back()->wishes.there == variants{second}));
  caf::anon_send(planner, actors::wish_hosting{{first, second}, false});
  advance(5ms);
  BOOST_TEST(
    (heard->plans.back()->workers.at(0).leaving == variants{first, second}));
  BOOST_TEST(heard->plans.back()->wishes.there.empty());
  // The order is sent once. The wish stays until a request needs the variant.
  advance(30s);
  BOOST_TEST(heard->plans.back()->workers.at(0).leaving.empty());
  BOOST_TEST((heard->plans.back()->wishes.away == variants{first, second}));
  heard->counts.waiting = heard->counts.waiting_shared = {0, 1};
  advance(31s);
  BOOST_TEST((heard->plans.back()->wishes.away == variants{first}));
  BOOST_TEST((heard->plans.back()->workers.at(0).hosting == variants{second}));
}

BOOST_AUTO_TEST_SUITE_END()
