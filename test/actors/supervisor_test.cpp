// SPDX-License-Identifier: Apache-2.0
#include "actors/recorders.hpp"
#include <atelier/actors/supervisor.hpp>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::supervisor_state;
using core::ec;
using stage = supervisor_state::stage;

constexpr auto first = test::scheduler_rig::life(1);
constexpr auto second = test::scheduler_rig::life(1, 2);

// Records the requests to the operating system.
struct recording_host : actors::process_host {
  void connect(std::function<void(actors::process_started)>,
               std::function<void(actors::process_exited)>) override {}

  void start(ipc::process_life who, std::string part, bool bare) override {
    started.emplace_back(who, part);
    begins_bare = bare;
  }

  void ping(ipc::process_life who, uint64_t) override {
    pinged.push_back(who);
  }

  void ask_to_leave(ipc::process_life who) override {
    asked.push_back(who);
  }

  void kill(ipc::process_life who) override {
    killed.push_back(who);
  }

  std::vector<std::pair<ipc::process_life, std::string>> started;
  bool begins_bare = false;
  std::vector<ipc::process_life> pinged;
  std::vector<ipc::process_life> asked;
  std::vector<ipc::process_life> killed;
};

using lives = std::vector<ipc::process_life>;
using losses = std::vector<std::pair<ipc::process_life, bool>>;
using causes = std::vector<actors::death>;

struct fixture : test::deterministic_system {
  fixture() {
    scheduler = spawn(test::listening_scheduler, heard);
    start({"cpu"});
  }

  void start(std::vector<std::string> parts) {
    if (sut)
      kill(sut);
    host = std::make_shared<recording_host>();
    actors::supervisor_config c;
    c.scheduler = scheduler;
    c.host = host;
    c.parts = std::move(parts);
    sut = spawn(actors::supervisor, c);
    tell(sut, actors::start_atom::value);
  }

  stage at(size_t i = 0) {
    return state<supervisor_state>(sut).processes.at(i).stage;
  }

  void started(ipc::process_life who = first) {
    tell(sut, actors::process_started{who, 100, {}});
  }

  // The process is started and set up.
  void up(ipc::process_life who = first) {
    started(who);
    pong(who);
  }

  void exited(ipc::process_life who = first) {
    tell(sut, actors::process_exited{who, "signal 9"});
  }

  void crashed(ipc::process_life who, actors::death cause) {
    tell(sut, actors::process_exited{who, "signal 11", cause});
  }

  void pong(ipc::process_life who = first) {
    tell(sut, actors::pong{who, 1});
  }

  void suspect(ipc::process_life who = first) {
    tell(sut, actors::suspect_process{who, "silent"});
  }

  core::timespan pause() {
    return state<supervisor_state>(sut).processes[0].due - now();
  }

  // The supervisor does not run for this time.
  void jump(core::timespan t) {
    sched.clock().current_time += t;
    advance(0s);
  }

  // Advances the time while the process answers.
  void live(core::timespan t, ipc::process_life who = first) {
    for (; t > 0ns; t -= 1s) {
      advance(std::min<core::timespan>(t, 1s));
      pong(who);
    }
  }

  std::shared_ptr<test::heard_by_scheduler> heard =
    std::make_shared<test::heard_by_scheduler>();
  std::shared_ptr<recording_host> host;
  actors::scheduler_actor scheduler;
  actors::supervisor_actor sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(supervisor_test, fixture)

BOOST_AUTO_TEST_CASE(every_part_is_started_once) {
  start({"cpu", "cuda:0"});
  tell(sut, actors::start_atom::value);
  BOOST_REQUIRE(host->started.size() == 2u);
  BOOST_TEST((host->started[0].first == test::scheduler_rig::life(1)));
  BOOST_TEST((host->started[1].first == test::scheduler_rig::life(2)));
  BOOST_TEST(host->started[1].second == "cuda:0");
  BOOST_TEST((at() == stage::starting));
  up();
  BOOST_TEST((at() == stage::up));
  const auto lines =
    ask<std::vector<actors::process_line>>(sut, actors::status_atom::value);
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0].alive);
  BOOST_TEST(lines[0].pid == 100);
  BOOST_TEST(!lines[1].alive);
}

BOOST_AUTO_TEST_CASE(what_an_operator_must_do_is_told_until_it_is_done) {
  start({"cpu"});
  const auto fault = [&] {
    return ask<std::vector<actors::process_line>>(sut,
                                                  actors::status_atom::value)
      .front()
      .refusal.text;
  };
  tell(sut, actors::process_started{
              first, 0, core::fail(core::ec::not_found, "put it back")});
  BOOST_TEST(fault() == "put it back");
  const auto next = [&](uint32_t n) {
    const auto who = test::scheduler_rig::life(1, n);
    advance(60s);
    started(who);
    return who;
  };
  const auto second = next(2);
  tell(sut, actors::setup_refused{second, core::fail(core::ec::incompatible,
                                                     "restart the server")});
  exited(second);
  BOOST_TEST(fault() == "restart the server");
  const auto third = next(3);
  BOOST_TEST(fault() == "restart the server");
  pong(third);
  BOOST_TEST(fault() == "");
}

BOOST_AUTO_TEST_CASE(handlers_that_waited_are_added_over_lives) {
  start({"cpu"});
  up();
  const auto says = [&](ipc::process_life who, uint64_t n) {
    tell(sut, actors::pong{who, 1, {{"preprocess", n}}});
  };
  const auto blocked = [&] {
    return ask<std::vector<actors::process_line>>(sut,
                                                  actors::status_atom::value)
      .front()
      .blocked;
  };
  BOOST_TEST(blocked().empty());
  says(first, 2);
  // A process reports counts of its whole life.
  says(first, 3);
  BOOST_REQUIRE(blocked().size() == 1u);
  BOOST_TEST(blocked()[0].actor == "preprocess");
  BOOST_TEST(blocked()[0].count == 3u);
  exited();
  BOOST_TEST(blocked()[0].count == 3u);
  advance(1h);
  const ipc::process_life second{first.process,
                                 core::incarnation{first.life.value + 1}};
  started(second);
  says(second, 4);
  // A late report from the life before no longer counts.
  says(first, 9);
  BOOST_TEST(blocked()[0].count == 7u);
}

BOOST_AUTO_TEST_CASE(what_a_process_refuses_is_told_until_one_is_up) {
  const auto refusal = [&] {
    return ask<std::vector<actors::process_line>>(sut,
                                                  actors::status_atom::value)
      .front()
      .refusal;
  };
  started();
  BOOST_TEST((refusal() == core::error{}));
  const auto why = core::fail(ec::incompatible, "other stages");
  tell(sut, actors::setup_refused{first, why});
  exited();
  BOOST_TEST((refusal() == why));
  advance(1h);
  // The refusal belongs to the life before.
  started(second);
  BOOST_TEST((refusal() == why));
  pong(second);
  BOOST_TEST((refusal() == core::error{}));
  tell(sut, actors::setup_refused{first, why});
  BOOST_TEST((refusal() == core::error{}));
}

BOOST_AUTO_TEST_CASE(without_parts_nothing_happens) {
  start({});
  BOOST_TEST(advance(1h) == 0u);
}

BOOST_AUTO_TEST_CASE(a_process_that_answers_lives_on) {
  up();
  live(30s);
  BOOST_TEST((at() == stage::up));
  BOOST_TEST(host->pinged.size() >= 25u);
  BOOST_TEST(host->killed.empty());
}

BOOST_AUTO_TEST_CASE(a_silent_process_is_suspected_and_killed) {
  up();
  advance(5s);
  BOOST_TEST((at() == stage::up));
  advance(500ms);
  BOOST_TEST((at() == stage::suspected));
  BOOST_TEST((host->killed == lives{first}));
  BOOST_TEST((heard->suspected == lives{first}));
  BOOST_TEST(heard->lost.empty());
}

BOOST_AUTO_TEST_CASE(a_pause_of_the_supervisor_is_nobodys_silence) {
  up();
  live(4s);
  for (int i = 0; i < 3; ++i) {
    host->pinged.clear();
    jump(60s);
    BOOST_TEST((at() == stage::up));
    BOOST_TEST(host->killed.empty());
    // The process is asked at once, before it counts as silent.
    BOOST_TEST(!host->pinged.empty());
  }
  pong();
  live(10s);
  BOOST_TEST((at() == stage::up));
}

BOOST_AUTO_TEST_CASE(after_a_pause_a_silent_process_gets_one_heartbeat_more) {
  up();
  advance(4750ms);
  BOOST_TEST((at() == stage::up));
  jump(60s);
  advance(750ms);
  BOOST_TEST((at() == stage::up));
  advance(750ms);
  BOOST_TEST((at() == stage::suspected));
}

BOOST_AUTO_TEST_CASE(a_supervisor_that_is_always_late_finds_a_silent_process) {
  up();
  for (int i = 0; i < 60 && at() == stage::up; ++i)
    jump(3s);
  BOOST_TEST((at() == stage::suspected));
}

BOOST_AUTO_TEST_CASE(a_pause_confirms_and_sets_up_nothing_sooner) {
  started();
  jump(1h);
  BOOST_TEST((at() == stage::setting_up));
  suspect();
  jump(1h);
  BOOST_TEST((at() == stage::suspected));
  BOOST_TEST(heard->lost.empty());
  advance(5s);
  BOOST_TEST((at() == stage::unconfirmed));
}

BOOST_AUTO_TEST_CASE(what_crashes_while_it_is_set_up_begins_without_models) {
  for (const auto cause : {actors::death::crash, actors::death::memory}) {
    start({"cuda:0"});
    started();
    BOOST_TEST(!host->begins_bare);
    crashed(first, cause);
    advance(1s);
    BOOST_REQUIRE(host->started.size() == 2u);
    BOOST_TEST(host->begins_bare);
    // Also in later lives: a model of this device may kill it while it loads.
    up(second);
    crashed(second, cause);
    advance(1s);
    BOOST_REQUIRE(host->started.size() == 3u);
    BOOST_TEST(host->begins_bare);
  }
}

BOOST_AUTO_TEST_CASE(a_refusal_does_not_hide_the_crash_of_a_later_life) {
  started();
  tell(sut, actors::setup_refused{first, core::fail(ec::not_found, "gone")});
  crashed(first, actors::death::outside);
  advance(1s);
  started(second);
  crashed(second, actors::death::crash);
  advance(1s);
  BOOST_REQUIRE(host->started.size() == 3u);
  BOOST_TEST(host->begins_bare);
}

BOOST_AUTO_TEST_CASE(other_ends_leave_the_models_to_the_next_life) {
  started();
  crashed(first, actors::death::outside);
  advance(1s);
  up(second);
  crashed(second, actors::death::crash);
  advance(1s);
  BOOST_REQUIRE(host->started.size() == 3u);
  BOOST_TEST(!host->begins_bare);
}

BOOST_AUTO_TEST_CASE(silence_while_it_sets_up_is_no_sin) {
  started();
  BOOST_TEST((at() == stage::setting_up));
  advance(4min);
  BOOST_TEST((at() == stage::setting_up));
  BOOST_TEST(host->killed.empty());
  // The process is pinged all the time, and is up at its first answer.
  BOOST_TEST(host->pinged.size() >= 200u);
  const auto lines =
    ask<std::vector<actors::process_line>>(sut, actors::status_atom::value);
  BOOST_TEST(lines.at(0).alive);
  pong();
  BOOST_TEST((at() == stage::up));
  advance(5s);
  BOOST_TEST((at() == stage::up));
  advance(500ms);
  BOOST_TEST((at() == stage::suspected));
}

BOOST_AUTO_TEST_CASE(a_setup_that_takes_too_long_is_suspected) {
  started();
  advance(5min);
  BOOST_TEST((at() == stage::setting_up));
  advance(500ms);
  BOOST_TEST((at() == stage::suspected));
  BOOST_TEST((host->killed == lives{first}));
  BOOST_TEST((heard->suspected == lives{first}));
  exited();
  BOOST_TEST((at() == stage::down));
}

BOOST_AUTO_TEST_CASE(a_death_while_setting_up_is_a_death) {
  started();
  exited();
  BOOST_TEST((heard->lost == losses{{first, true}}));
  advance(1s);
  BOOST_REQUIRE(host->started.size() == 2u);
  // A sign of the life before does not complete the setup.
  started(second);
  pong(first);
  BOOST_TEST((at() == stage::setting_up));
  suspect(second);
  BOOST_TEST((at() == stage::suspected));
  pong(second);
  BOOST_TEST((at() == stage::suspected));
}

BOOST_AUTO_TEST_CASE(what_the_scheduler_suspects_is_killed_once) {
  up();
  suspect();
  suspect();
  suspect(second);
  BOOST_TEST((host->killed == lives{first}));
  BOOST_TEST((heard->suspected == lives{first}));
  // A late sign of life does not save the process.
  pong();
  BOOST_TEST((at() == stage::suspected));
}

BOOST_AUTO_TEST_CASE(a_process_is_suspected_while_it_starts) {
  suspect();
  BOOST_TEST((at() == stage::suspected));
  up();
  BOOST_TEST((at() == stage::suspected));
  exited();
  BOOST_TEST((heard->lost == losses{{first, true}}));
}

BOOST_AUTO_TEST_CASE(a_confirmed_exit_is_told_and_the_next_life_started) {
  up();
  exited();
  BOOST_TEST((heard->lost == losses{{first, true}}));
  BOOST_TEST((at() == stage::down));
  advance(100ms);
  BOOST_TEST(host->started.size() == 1u);
  advance(400ms);
  BOOST_REQUIRE(host->started.size() == 2u);
  BOOST_TEST((host->started[1].first == second));
  // Messages about the first life no longer have an effect.
  exited();
  suspect();
  up();
  BOOST_TEST((at() == stage::starting));
  BOOST_TEST(heard->lost.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_exit_that_is_not_confirmed_is_told_as_such) {
  up();
  suspect();
  advance(5s + 250ms);
  BOOST_TEST((at() == stage::unconfirmed));
  BOOST_TEST((heard->lost == losses{{first, false}}));
  // No second life starts beside the first one.
  advance(1min);
  BOOST_TEST(host->started.size() == 1u);
  exited();
  BOOST_TEST((heard->lost == losses{{first, false}, {first, true}}));
  advance(1s);
  BOOST_TEST(host->started.size() == 2u);
}

BOOST_AUTO_TEST_CASE(pauses_double_to_the_most_while_it_never_comes_up) {
  std::vector<core::timespan> pauses;
  for (uint32_t life = 1; life <= 12; ++life) {
    const auto who = test::scheduler_rig::life(1, life);
    started(who);
    exited(who);
    pauses.push_back(pause());
    advance(31s);
  }
  BOOST_TEST((pauses[0] == 200ms));
  BOOST_TEST((pauses[1] == 400ms));
  BOOST_TEST((pauses[7] == 25600ms));
  BOOST_TEST((pauses[8] == 30s));
  BOOST_TEST((pauses[11] == 30s));
}

BOOST_AUTO_TEST_CASE(deaths_within_ten_seconds_double_the_pause) {
  for (uint32_t life = 1; life <= 4; ++life) {
    const auto who = test::scheduler_rig::life(1, life);
    up(who);
    exited(who);
    BOOST_TEST((pause() == 200ms * (1 << (life - 1))));
    live(2s, test::scheduler_rig::life(1, life + 1));
  }
}

BOOST_AUTO_TEST_CASE(deaths_further_apart_have_the_first_pause) {
  for (uint32_t life = 1; life <= 3; ++life) {
    const auto who = test::scheduler_rig::life(1, life);
    up(who);
    exited(who);
    BOOST_TEST((pause() == 200ms));
    advance(1s);
    const auto next = test::scheduler_rig::life(1, life + 1);
    up(next);
    live(9s + 250ms, next);
  }
}

BOOST_AUTO_TEST_CASE(deaths_that_a_request_caused_have_the_first_pause) {
  for (uint32_t life = 1; life <= 5; ++life) {
    const auto who = test::scheduler_rig::life(1, life);
    up(who);
    exited(who);
    tell(sut, actors::request_caused{who});
    BOOST_TEST((pause() == 200ms));
    // A message about another life is too late.
    tell(sut, actors::request_caused{test::scheduler_rig::life(1, life + 1)});
    advance(500ms);
    BOOST_TEST(host->started.size() == life + 1);
  }
  // The next death without an explanation restarts the count.
  const auto who = test::scheduler_rig::life(1, 6);
  up(who);
  exited(who);
  BOOST_TEST((pause() == 200ms));
}

BOOST_AUTO_TEST_CASE(the_cause_of_an_end_is_passed_on) {
  up();
  tell(sut, actors::process_exited{first, "signal 11", actors::death::crash});
  BOOST_TEST((heard->causes == causes{actors::death::crash}));
  advance(500ms);
  up(second);
  suspect(second);
  advance(5s + 250ms);
  BOOST_TEST((heard->causes.back() == actors::death::watchdog));
}

BOOST_AUTO_TEST_CASE(a_process_is_ready_once_it_answered) {
  const auto ready = [&] {
    return ask<std::vector<actors::process_line>>(sut,
                                                  actors::status_atom::value)
      .front()
      .ready;
  };
  started();
  BOOST_TEST(!ready());
  pong();
  BOOST_TEST(ready());
  exited();
  BOOST_TEST(!ready());
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_is_tried_again) {
  tell(sut, actors::process_started{
              first, 0, core::fail(ec::io_failed, "no such program")});
  BOOST_TEST((at() == stage::down));
  BOOST_TEST(heard->lost.empty());
  advance(1s);
  BOOST_TEST(host->started.size() == 2u);
}

BOOST_AUTO_TEST_CASE(stop_asks_everybody_to_leave_and_starts_none_again) {
  start({"cpu", "cuda:0", "cuda:1"});
  up();
  exited(test::scheduler_rig::life(2));
  tell(sut, actors::stop_atom::value);
  const lives expected{first, test::scheduler_rig::life(3)};
  BOOST_TEST((host->asked == expected));
  BOOST_TEST((at(1) == stage::over));
  exited();
  BOOST_TEST((at() == stage::over));
  up(test::scheduler_rig::life(3));
  exited(test::scheduler_rig::life(3));
  BOOST_TEST(heard->lost.size() == 3u);
  advance(1min);
  BOOST_TEST(host->started.size() == 3u);
  // No process is left to supervise.
  BOOST_TEST(advance(1h) == 0u);
}

BOOST_AUTO_TEST_CASE(who_does_not_leave_in_time_is_killed) {
  up();
  tell(sut, actors::stop_atom::value);
  live(9s);
  BOOST_TEST(host->killed.empty());
  live(2s);
  BOOST_TEST((host->killed == lives{first}));
  exited();
  BOOST_TEST((at() == stage::over));
}

BOOST_AUTO_TEST_CASE(nothing_is_started_after_a_stop) {
  host->started.clear();
  kill(sut);
  actors::supervisor_config c;
  c.scheduler = scheduler;
  c.host = host;
  c.parts = {"cpu"};
  sut = spawn(actors::supervisor, c);
  tell(sut, actors::stop_atom::value);
  tell(sut, actors::start_atom::value);
  advance(1min);
  BOOST_TEST(host->started.empty());
}

BOOST_AUTO_TEST_CASE(an_exit_and_a_suspicion_meet_in_both_orders) {
  for (const bool exit_first : {true, false}) {
    start({"cpu"});
    up();
    heard->suspected.clear();
    heard->lost.clear();
    if (exit_first)
      caf::anon_send(sut, actors::process_exited{first, "signal 9"});
    caf::anon_send(sut, actors::suspect_process{first, "silent"});
    if (!exit_first)
      caf::anon_send(sut, actors::process_exited{first, "signal 9"});
    run();
    BOOST_TEST(heard->suspected.size() == (exit_first ? 0u : 1u));
    BOOST_TEST((heard->lost == losses{{first, true}}));
    BOOST_TEST((at() == stage::down));
  }
}

BOOST_AUTO_TEST_SUITE_END()
