// SPDX-License-Identifier: Apache-2.0
#include "actors/recorders.hpp"
#include <atelier/actors/monitor.hpp>
#include <atelier/actors/planner.hpp>
#include <atelier/runtime/simulation/virtual_offload.hpp>
#include <atelier/runtime/simulation/virtual_timers.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;

struct fixture : test::deterministic_system {
  fixture() {
    timers = std::make_shared<runtime::virtual_timers>(sys);
    offload = std::make_shared<runtime::virtual_offload>(timers);
    hub = spawn(test::listening_hub, heard);
    actors::monitor_config m;
    m.hub = hub;
    m.windows = 3;
    monitor = spawn(actors::monitor, m);
    actors::planner_config c;
    c.hub = hub;
    c.counts = monitor;
    c.policy = *planning::make_policy("vanilla");
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

  std::shared_ptr<test::heard_by_hub> heard =
    std::make_shared<test::heard_by_hub>();
  std::shared_ptr<runtime::virtual_timers> timers;
  std::shared_ptr<runtime::virtual_offload> offload;
  actors::scheduler_actor hub;
  actors::monitor_actor monitor;
  actors::planner_actor planner;
  size_t workers = 0;
};

using numbers = std::vector<uint64_t>;

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

BOOST_AUTO_TEST_SUITE_END()
