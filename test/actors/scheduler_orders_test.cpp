// SPDX-License-Identifier: Apache-2.0

// Single orders that are lost on their way, or whose answers are, while their
// worker goes on with others; and pauses of the scheduler's own process.

#include "actors/scheduler_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::ask_order;
using actors::denoise;
using actors::has_order;
using core::ec;
using test::finish;
using test::prepare;
using test::scheduler_rig;

constexpr auto cpu = scheduler_rig::life(1);
constexpr auto device = scheduler_rig::life(2);

// Half a silence, and the time that the work explains: see
// deliveries::hand_over.
constexpr auto patience = 6s;

struct rig : scheduler_rig {
  rig() {
    add_cpu();
    add_device(device);
  }

  // Other requests are prepared, drawn and encoded until `until` says so, or
  // for `longest`.
  template <class F>
  bool busy_until(F until, core::timespan longest = patience) {
    const auto end = now + longest;
    while (now < end) {
      submit();
      tick(200ms);
      while (!until()) {
        if (auto p = next<prepare>())
          done(p->second);
        else if (auto d = next<denoise>()) {
          stepping({d->second.ticket});
          stepped(d->second, 4);
          done(d->second);
        } else if (auto f = next<finish>())
          done(f->second);
        else
          break;
      }
      if (until())
        return true;
      for (const auto id : std::exchange(untaken, {}))
        taken(id);
    }
    return false;
  }

  // Prepares others' requests until that of `id` is ordered.
  prepare prepare_of(core::request_id id) {
    for (;;) {
      const auto p = take<prepare>();
      if (p.who.id == id)
        return p;
      done(p);
    }
  }

  bool asks() const {
    return count<ask_order>() > 0;
  }
};

// A device of the control process.
struct own_device : scheduler_rig {
  own_device() {
    add_cpu(ipc::process_life{});
    add_device(ipc::process_life{}, 4, 4);
  }

  // Returns the order of a request whose row steps.
  denoise begin() {
    submit();
    done(take<prepare>());
    auto x = take<denoise>();
    stepping({x.ticket}, {});
    return x;
  }
};

// Lets the time pass until an order that nobody answers is given up.
bool give_up(scheduler_rig& sut) {
  for (int i = 0; i < 400 && sut.sut->counts().orders_lost == 0; ++i)
    sut.tick(250ms);
  return sut.sut->counts().orders_lost > 0;
}

// Takes the orders of the devices until there is one of `id`.
denoise denoise_of(scheduler_rig& sut, core::request_id id) {
  for (;;) {
    auto d = sut.take<denoise>();
    if (d.ticket.id == id)
      return d;
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_orders_test)

BOOST_AUTO_TEST_CASE(a_lost_answer_of_a_busy_pool_is_missed_in_time) {
  rig sut;
  const auto id = sut.submit();
  // The worker's answer never arrives.
  const auto lost = sut.take<prepare>();
  BOOST_REQUIRE(sut.busy_until([&] { return sut.asks(); }));
  BOOST_TEST((sut.take<ask_order>().ticket == lost.who));
  sut.on(has_order{lost.who, false});
  BOOST_TEST(sut.sut->counts().orders_lost == 1u);
  // Nobody is killed for one loss, and the request is tried again.
  BOOST_TEST(sut.suspects.empty());
  sut.done(sut.prepare_of(id));
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_lost_answer_of_a_busy_device_goes_on_from_its_state) {
  rig sut;
  const auto id = sut.submit();
  sut.done(sut.take<prepare>());
  const auto lost = sut.take<denoise>();
  sut.stepping({lost.ticket});
  sut.stepped(lost, 4);
  sut.stepping({});
  BOOST_REQUIRE(sut.busy_until([&] { return sut.asks(); }));
  BOOST_TEST((sut.take<ask_order>().ticket == lost.ticket));
  sut.on(has_order{lost.ticket, false});
  const auto again = sut.take<denoise>();
  BOOST_TEST((again.ticket.id == id));
  BOOST_TEST((again.from == lost.state));
  BOOST_TEST(sut.suspects.empty());
  BOOST_REQUIRE(again.steps_done == 4u);
  sut.done(again);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_row_that_steps_is_not_asked_for) {
  rig sut;
  sut.submit();
  sut.done(sut.take<prepare>());
  const auto d = sut.take<denoise>();
  sut.stepping({d.ticket});
  for (int i = 0; i < 60; ++i) {
    sut.tick(1s);
    actors::stepped x;
    x.worker = scheduler_rig::device_at(device);
    sut.on(x);
  }
  BOOST_TEST(!sut.asks());
}

BOOST_AUTO_TEST_CASE(a_row_that_waits_for_its_place_stays_with_its_worker) {
  rig sut;
  sut.submit();
  sut.done(sut.take<prepare>());
  const auto waits = sut.take<denoise>();
  for (int i = 0; i < 5; ++i) {
    BOOST_REQUIRE(sut.busy_until([&] { return sut.asks(); }));
    BOOST_TEST((sut.take<ask_order>().ticket == waits.ticket));
    sut.on(has_order{waits.ticket, true});
  }
  sut.stepping({waits.ticket});
  sut.stepped(waits, 4);
  sut.done(waits);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST(sut.sut->counts().orders_lost == 0u);
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(the_answers_of_an_actor_keep_no_hung_device_alive) {
  rig sut;
  sut.submit();
  sut.done(sut.take<prepare>());
  const auto d = sut.take<denoise>();
  sut.stepping({d.ticket});
  for (int i = 0; i < 40 && sut.suspects.empty(); ++i) {
    sut.tick(250ms);
    while (auto q = sut.next<ask_order>())
      sut.on(has_order{q->second.ticket, true});
  }
  BOOST_REQUIRE(sut.suspects.size() == 1u);
  BOOST_TEST((sut.suspects[0] == device));
}

BOOST_AUTO_TEST_CASE(a_pool_that_only_lost_an_answer_is_no_silent_pool) {
  rig sut;
  const auto id = sut.submit();
  sut.take<prepare>();
  // The worker is idle, and answers only questions.
  for (int i = 0; i < 80; ++i) {
    sut.tick(250ms);
    while (auto q = sut.next<ask_order>())
      sut.on(has_order{q->second.ticket, false});
    if (sut.count<prepare>() > 0)
      break;
  }
  BOOST_TEST(sut.suspects.empty());
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_second_loss_replaces_the_worker_and_blames_no_other) {
  rig sut;
  const auto id = sut.submit();
  const auto lose_it = [&](core::ticket who) {
    BOOST_REQUIRE(sut.busy_until([&] { return sut.asks(); }));
    sut.take<ask_order>();
    sut.on(has_order{who, false});
  };
  lose_it(sut.prepare_of(id).who);
  // Another request is there when the process is replaced.
  lose_it(sut.prepare_of(id).who);
  BOOST_REQUIRE(sut.suspects.size() == 1u);
  BOOST_TEST((sut.suspects[0] == cpu));
  sut.suspect(cpu);
  sut.lose(cpu, true, actors::death::watchdog);
  BOOST_TEST(sut.blamed.empty());
  std::erase_if(sut.sent, [](const auto& x) { return x.to.process == cpu; });
  sut.add_cpu(scheduler_rig::life(1, 2));
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_request_whose_answers_are_always_lost_fails) {
  rig sut;
  const auto id = sut.submit();
  uint32_t life = 1;
  for (int i = 0; i < 20 && !sut.answered(id); ++i) {
    const auto lost = sut.take<prepare>();
    while (!sut.asks())
      sut.tick(250ms);
    sut.take<ask_order>();
    sut.on(has_order{lost.who, false});
    for (const auto who : std::exchange(sut.suspects, {})) {
      sut.suspect(who);
      sut.lose(who, true, actors::death::watchdog);
      sut.add_cpu(scheduler_rig::life(1, ++life));
    }
  }
  BOOST_TEST((sut.failure_of(id) == ec::poison));
  BOOST_TEST(life == 4u);
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(an_answer_to_no_question_changes_nothing) {
  rig sut;
  sut.submit();
  const auto p = sut.take<prepare>();
  sut.on(has_order{p.who, false});
  sut.on(has_order{{core::request_id{99}, 1}, false});
  BOOST_TEST(sut.sut->counts().stale_replies == 2u);
  BOOST_TEST(sut.sut->counts().orders_lost == 0u);
  sut.done(p);
  BOOST_REQUIRE(sut.work_off());
}

BOOST_AUTO_TEST_CASE(the_lost_order_of_a_cancelled_request_frees_its_slots) {
  rig sut;
  const auto id = sut.submit();
  sut.cancel(id);
  // The row is gone, and its order's slots are still held.
  const auto p = sut.take<prepare>();
  BOOST_TEST(!sut.quiet());
  while (sut.count<ask_order>() == 0)
    sut.tick(250ms);
  sut.on(has_order{p.who, false});
  BOOST_TEST(sut.quiet());
}

// -- workers of the control process -------------------------------------------

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_be_killed_lets_its_request_go) {
  scheduler_rig sut;
  const ipc::process_life control{};
  sut.add_cpu(control);
  const auto id = sut.submit();
  const auto wait_for = [&](auto done) {
    for (int i = 0; i < 400 && !done(); ++i)
      sut.tick(250ms);
    BOOST_REQUIRE(done());
  };
  const auto first = sut.take<prepare>();
  // It answers neither the order nor the questions: the order is tried once
  // more, and nobody is suspected.
  wait_for([&] { return sut.count<prepare>() > 0; });
  const auto second = sut.take<prepare>();
  wait_for([&] { return sut.answered(id); });
  BOOST_TEST((sut.failure_of(id) == ec::internal));
  BOOST_TEST(sut.suspects.empty());
  BOOST_TEST(sut.sut->counts().orders_lost == 2u);
  // It may still write into its slots.
  BOOST_TEST(!sut.quiet());
  sut.done(first);
  sut.done(second);
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(
  a_hung_device_that_wakes_up_frees_no_state_of_its_request) {
  own_device sut;
  const auto first = sut.begin();
  const auto id = first.ticket.id;
  BOOST_REQUIRE(give_up(sut));
  sut.stepped(first, 2, {});
  sut.submit();
  sut.done(sut.take<prepare>());
  const auto again = denoise_of(sut, id);
  BOOST_TEST((again.from == first.from));
  BOOST_TEST(sut.sut->keeper().state_of(again.from).has_value());
}

BOOST_AUTO_TEST_CASE(
  a_device_that_hangs_after_it_published_begins_the_leg_anew) {
  own_device sut;
  const auto first = sut.begin();
  const auto id = first.ticket.id;
  sut.stepped(first, 2, {});
  // Another request takes the slot of the state that the first began with.
  sut.submit();
  sut.done(sut.take<prepare>());
  BOOST_REQUIRE(give_up(sut));
  sut.done(sut.take<prepare>());
  const auto again = denoise_of(sut, id);
  BOOST_TEST(again.steps_done == 0u);
  BOOST_TEST(sut.sut->keeper().state_of(again.from).has_value());
  BOOST_TEST(sut.sut->counts().legs_restarted == 1u);
}

// -- orders that cannot leave -------------------------------------------------

BOOST_AUTO_TEST_CASE(an_order_too_large_ends_its_request_at_once) {
  const auto refused = [](auto refuses, std::string_view stage) {
    rig sut;
    const auto other = sut.submit();
    sut.refuses = refuses;
    const auto id = sut.submit();
    sut.work_off();
    BOOST_TEST((sut.failure_of(id) == ec::invalid_argument));
    const auto& text = sut.answer_to(id).failure.text;
    BOOST_TEST(text.find(stage) != std::string::npos, text);
    BOOST_TEST(text.find("too large") != std::string::npos, text);
    BOOST_TEST((sut.failure_of(other) == ec::none));
    BOOST_TEST(sut.suspects.empty());
    BOOST_TEST(sut.quiet());
  };
  const auto of_second = [](const actors::work& x) {
    return test::ticket_of(x).id == core::request_id{2};
  };
  refused(of_second, "'prepare'");
  refused(
    [=](const actors::work& x) {
      return std::holds_alternative<denoise>(x) && of_second(x);
    },
    "'denoise'");
}

// -- pauses of the scheduler's process ----------------------------------------

BOOST_AUTO_TEST_CASE(a_pause_of_the_scheduler_is_nobodys_silence) {
  rig sut;
  sut.submit();
  sut.done(sut.take<prepare>());
  const auto d = sut.take<denoise>();
  sut.stepping({d.ticket});
  for (int i = 0; i < 5; ++i) {
    sut.jump(1h);
    sut.tick(10ms);
    BOOST_TEST(sut.suspects.empty());
    BOOST_TEST(!sut.asks());
  }
  sut.stepped(d, 4);
  sut.done(d);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_worker_that_stays_silent_after_a_pause_is_found) {
  rig sut;
  sut.submit();
  sut.done(sut.take<prepare>());
  sut.stepping({sut.take<denoise>().ticket});
  sut.jump(1h);
  BOOST_TEST(sut.suspects.empty());
  sut.tick(7s);
  BOOST_TEST(sut.suspects.size() == 1u);
}

BOOST_AUTO_TEST_CASE(deadlines_do_not_wait_for_the_scheduler) {
  rig sut;
  const auto id =
    sut.submit([&](core::request& x) { x.deadline = sut.now + 30s; });
  sut.jump(1min);
  BOOST_TEST((sut.failure_of(id) == ec::deadline_missed));
}

BOOST_AUTO_TEST_SUITE_END()
