// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"
#include "actors/system_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;

struct fixture {
  fixture() {
    // All actors start.
    rig.det.advance(0ns);
  }

  static test::system_options usual() {
    test::system_options o;
    o.payload = true;
    o.profile = test::card_profile();
    return o;
  }

  std::shared_ptr<const core::request> request(uint64_t id) {
    auto x = std::make_shared<core::request>();
    x->id = core::request_id{id};
    x->text.positive = "a ball";
    x->seed = id;
    x->arrived = rig.det.now();
    return x;
  }

  void advance(core::timespan t) {
    rig.det.advance(t);
    BOOST_REQUIRE_EQUAL(rig.check(), "");
  }

  actors::counters counts() {
    return rig.det.ask<actors::counters>(rig.scheduler,
                                         actors::counts_atom::value);
  }

  ec failure_of(uint64_t id) {
    return rig.answers.at(core::request_id{id}).failure.code;
  }

  test::system_rig rig{usual()};
};

constexpr core::process_id cpu{1};
constexpr core::process_id device{2};

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_test, fixture)

BOOST_AUTO_TEST_CASE(a_request_becomes_a_image) {
  rig.submit(request(1));
  advance(1s);
  BOOST_REQUIRE(rig.answers.size() == 1u);
  const auto& a = rig.answers.begin()->second;
  BOOST_TEST((a.failure.code == ec::none));
  BOOST_TEST(a.steps_run == 4u);
  BOOST_TEST((a.took.denoise > 20ms));
  BOOST_TEST(a.bytes == rig.images.begin()->second.size());
  rig.take(core::request_id{1});
  advance(0ns);
  BOOST_TEST(rig.tables().rows() == 0u);
  BOOST_TEST(counts().answered == 1u);
}

BOOST_AUTO_TEST_CASE(the_tick_finds_who_is_late_and_rests_with_nothing_to_do) {
  auto late = std::make_shared<core::request>(*request(1));
  late->deadline = rig.det.now() + 60ms;
  rig.host->hang(device);
  rig.submit(late);
  advance(50ms);
  BOOST_TEST(rig.answers.empty());
  advance(30ms);
  BOOST_TEST((failure_of(1) == ec::deadline_missed));
  rig.host->wake(device);
  advance(1s);
  BOOST_TEST(!rig.det.state<actors::scheduler_state>(rig.scheduler).ticking);
}

BOOST_AUTO_TEST_CASE(a_crash_costs_nobody_the_answer) {
  for (const auto which : {cpu, device}) {
    const auto id = which.value;
    rig.submit(request(id));
    advance(which == cpu ? 0ms : 20ms);
    rig.host->crash(which);
    advance(2s);
    BOOST_TEST((failure_of(id) == ec::none));
  }
  BOOST_TEST(counts().workers_lost == 3u);
  BOOST_TEST(counts().resumed == 1u);
}

BOOST_AUTO_TEST_CASE(a_hung_device_is_found_killed_and_replaced) {
  rig.submit(request(1));
  advance(20ms);
  rig.host->hang(device);
  advance(4s);
  BOOST_TEST(rig.answers.empty());
  advance(5s);
  BOOST_TEST((failure_of(1) == ec::none));
  BOOST_TEST(counts().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(a_cancel_ends_the_devices_work_at_the_next_step) {
  rig.submit(request(1));
  advance(20ms);
  rig.tell(actors::cancel_request{core::request_id{1}});
  advance(0ns);
  BOOST_TEST((failure_of(1) == ec::cancelled));
  advance(30ms);
  BOOST_TEST(rig.tables().cluster().workers.at(0).seats_taken == 0u);
  BOOST_TEST(counts().steps_run < 4u);
}

BOOST_AUTO_TEST_CASE(submit_and_cancel_meet_in_both_orders) {
  rig.submit(request(1));
  rig.tell(actors::cancel_request{core::request_id{1}});
  rig.tell(actors::cancel_request{core::request_id{2}});
  rig.submit(request(2));
  advance(1s);
  BOOST_TEST((failure_of(1) == ec::cancelled));
  BOOST_TEST((failure_of(2) == ec::none));
}

BOOST_AUTO_TEST_CASE(workers_that_come_and_go_are_planned_for) {
  advance(1s);
  const auto before = rig.tables().status().plan->version;
  BOOST_TEST(before > 1u);
  rig.host->crash(device);
  advance(1s);
  BOOST_TEST(rig.tables().status().plan->version > before);
}

BOOST_AUTO_TEST_CASE(stop_fails_what_waits_and_everybody_leaves) {
  rig.submit(request(1));
  advance(10ms);
  caf::anon_send(rig.scheduler, actors::stop_atom::value);
  caf::anon_send(rig.supervisor, actors::stop_atom::value);
  advance(0ns);
  BOOST_TEST((failure_of(1) == ec::stopping));
  rig.submit(request(2));
  advance(1s);
  BOOST_TEST((failure_of(2) == ec::stopping));
  for (const auto& p : rig.det.ask<std::vector<actors::process_line>>(
         rig.supervisor, actors::status_atom::value))
    BOOST_TEST(!p.alive);
  BOOST_TEST(rig.tables().rows() == 0u);
}

BOOST_AUTO_TEST_CASE(both_requests_and_counts_are_told_to_people) {
  rig.submit(request(1));
  advance(20ms);
  const auto s = rig.det.ask<actors::scheduler_status>(
    rig.scheduler, actors::status_atom::value);
  BOOST_TEST(s.running == 1u);
  BOOST_TEST(s.workers.size() == 1u);
  BOOST_TEST(s.counts.arrived == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
