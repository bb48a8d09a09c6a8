// SPDX-License-Identifier: Apache-2.0
#include "actors/recorders.hpp"
#include <atelier/actors/wiring.hpp>
#include <atelier/simulation/simulated_host.hpp>
#include <atelier/simulation/virtual_timers.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;

constexpr auto life = test::scheduler_rig::life(1);

struct fixture : test::deterministic_system {
  fixture() {
    runtime::simulated_host_config c;
    c.timers = timers;
    c.scheduler = scheduler;
    c.sign = [this](actors::pong) { ++pongs; };
    c.script = [this](ipc::process_life) { return script; };
    c.links = [this] { return runtime::link_fate{link_delay, {}}; };
    c.spawn = [this](ipc::process_life who, const std::string&,
                     std::shared_ptr<actors::scheduler_port> port) {
      runtime::process_body body;
      body.actors = actors::spawn_pool(
        sys, *body.workers, who, {actors::role::preprocess, 1, 1},
        {{}, 1, *actors::standard_pipeline(), slots, std::move(port)});
      return body;
    };
    host = std::make_shared<runtime::simulated_host>(std::move(c));
    host->connect([this](actors::process_started x) { started.push_back(x); },
                  [this](actors::process_exited x) { exited.push_back(x); });
    slots->open(slot);
  }

  ~fixture() {
    host->clear();
    end();
  }

  void start() {
    host->start(life, "cpu", false);
    advance(10ms);
  }

  void give() {
    test::prepare x;
    x.who = {core::request_id{1}, 1};
    x.state = slot;
    BOOST_REQUIRE(host->send(worker, x.order()));
    run();
  }

  size_t replies() const {
    return scheduler->of<test::prepared>().size();
  }

  const actors::worker_address worker{life, actors::role::preprocess, 0};
  const ipc::slot_ref slot{1, 0, 1, ipc::slot_kind::state};
  runtime::process_script script;
  core::timespan link_delay{0};
  std::shared_ptr<runtime::virtual_timers> timers =
    std::make_shared<runtime::virtual_timers>(sys);
  std::shared_ptr<ipc::heap_store> slots =
    std::make_shared<ipc::heap_store>(1u, std::array<uint32_t, 3>{1, 1, 0});
  std::shared_ptr<test::recording_scheduler_port> scheduler =
    std::make_shared<test::recording_scheduler_port>();
  std::shared_ptr<runtime::simulated_host> host;
  std::vector<actors::process_started> started;
  std::vector<actors::process_exited> exited;
  int pongs = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(simulated_host_test, fixture)

BOOST_AUTO_TEST_CASE(a_process_comes_up_after_its_delay_and_works) {
  script.start_delay = 10ms;
  host->start(life, "cpu", false);
  advance(9ms);
  BOOST_TEST(started.empty());
  give();
  advance(1ms);
  BOOST_REQUIRE(started.size() == 1u);
  BOOST_TEST((started[0].failure.code == ec::none));
  BOOST_TEST(scheduler->of<actors::worker_ready>().size() == 1u);
  // Messages from before its start are lost.
  BOOST_TEST(replies() == 0u);
  give();
  advance(0ns);
  BOOST_TEST(replies() == 1u);
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_leaves_nothing) {
  script.start_failure = core::fail(ec::io_failed, "scripted");
  start();
  BOOST_TEST((started.at(0).failure.code == ec::io_failed));
  host->kill(life);
  advance(1s);
  BOOST_TEST(exited.empty());
}

BOOST_AUTO_TEST_CASE(a_crash_delivers_what_was_written_and_then_the_exit) {
  link_delay = 3ms;
  start();
  give();
  advance(3ms);
  BOOST_TEST(replies() == 0u);
  host->crash(life.process);
  give();
  advance(2ms);
  BOOST_TEST(exited.empty());
  advance(1ms);
  BOOST_TEST(replies() == 1u);
  BOOST_REQUIRE(exited.size() == 1u);
  BOOST_TEST((exited[0].process == life));
  host->crash(life.process);
  advance(1s);
  BOOST_TEST(exited.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_hung_process_is_silent_until_it_wakes_or_is_killed) {
  start();
  host->ping(life, 1);
  advance(0ns);
  BOOST_TEST(pongs == 1);
  host->hang(life.process);
  host->ping(life, 2);
  give();
  advance(1s);
  BOOST_TEST(pongs == 1);
  BOOST_TEST(replies() == 0u);
  host->ask_to_leave(life);
  advance(1s);
  BOOST_TEST(exited.empty());
  host->wake(life.process);
  advance(0ns);
  BOOST_TEST(replies() == 1u);
  host->hang(life.process);
  host->kill(life);
  advance(0ns);
  BOOST_TEST(exited.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_process_that_ignores_its_kill_works_on_until_its_exit) {
  script.ignores_kill = true;
  script.exit_delay = 7s;
  start();
  host->kill(life);
  give();
  advance(1s);
  BOOST_TEST(replies() == 1u);
  BOOST_TEST(exited.empty());
  advance(6s);
  BOOST_TEST(exited.size() == 1u);
  give();
  BOOST_TEST(replies() == 1u);
}

BOOST_AUTO_TEST_CASE(a_process_leaves_when_it_is_asked_unless_it_will_not) {
  start();
  script.ignores_leave = true;
  host->ask_to_leave(life);
  advance(0ns);
  BOOST_TEST(exited.size() == 1u);
  const auto second = test::scheduler_rig::life(1, 2);
  host->start(second, "cpu", false);
  advance(0ns);
  host->ask_to_leave(second);
  host->ask_to_leave(life);
  advance(1s);
  BOOST_TEST(exited.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_process_killed_while_it_starts_starts_and_exits) {
  script.start_delay = 10ms;
  script.exit_delay = 5ms;
  host->start(life, "cpu", false);
  host->kill(life);
  advance(10ms);
  BOOST_TEST(started.size() == 1u);
  BOOST_TEST(exited.empty());
  advance(5ms);
  BOOST_TEST(exited.size() == 1u);
  BOOST_TEST(scheduler->all.empty());
}

BOOST_AUTO_TEST_CASE(it_answers_nothing_while_it_sets_up) {
  script.setup_delay = 10s;
  start();
  BOOST_TEST(started.size() == 1u);
  host->ping(life, 1);
  advance(9s);
  BOOST_TEST(pongs == 0);
  BOOST_TEST(scheduler->of<actors::worker_ready>().empty());
  advance(1s);
  BOOST_TEST(scheduler->of<actors::worker_ready>().size() == 1u);
  host->ping(life, 2);
  advance(1ms);
  BOOST_TEST(pongs == 1);
}

BOOST_AUTO_TEST_CASE(it_may_die_while_it_sets_up) {
  script.setup_delay = 10s;
  start();
  host->kill(life);
  advance(1min);
  BOOST_TEST(exited.size() == 1u);
  BOOST_TEST(scheduler->of<actors::worker_ready>().empty());
}

BOOST_AUTO_TEST_SUITE_END()
