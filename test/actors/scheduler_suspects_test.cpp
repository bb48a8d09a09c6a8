// SPDX-License-Identifier: Apache-2.0

// The rules for rows whose worker's process died while it worked on them, and
// for the rows beside them. The file is long because the rules belong together.

#include "actors/scheduler_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::death;
using actors::denoise;
using core::ec;
using core::phase;
using test::finish;
using test::prepare;
using test::scheduler_rig;

constexpr auto cpu = scheduler_rig::life(1);
constexpr auto device = scheduler_rig::life(2);

constexpr ipc::process_life cpu_life(uint32_t n) {
  return scheduler_rig::life(1, n);
}

// A rig with a CPU process, in its next life, and a device.
struct rig : scheduler_rig {
  explicit rig(options o = {}) : scheduler_rig(std::move(o)) {
    add_cpu();
    add_device(device);
  }

  void rebirth() {
    add_cpu(cpu_life(++life_now));
  }

  void die(death cause = death::crash) {
    lose(cpu_life(life_now), true, cause);
  }

  // The preparation of `id` kills its process.
  void die_preparing(core::request_id id, death cause = death::crash) {
    const auto x = take<prepare>();
    BOOST_TEST((x.who.id == id));
    die(cause);
    rebirth();
  }

  uint32_t life_now = 1;
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_suspects_test)

// -- poison in every phase ----------------------------------------------------

BOOST_AUTO_TEST_CASE(two_deaths_alone_while_preparing_are_poison) {
  for (const auto cause : {death::crash, death::watchdog, death::memory}) {
    rig sut;
    const auto id = sut.submit();
    for (int i = 0; i < 3; ++i) {
      BOOST_TEST(!sut.answered(id));
      sut.die_preparing(id, cause);
    }
    BOOST_TEST((sut.failure_of(id) == ec::poison));
    BOOST_TEST(sut.answer_to(id).failure.text.starts_with(
                 "its worker died 2 times while preparing it alone (last: "),
               sut.answer_to(id).failure.text);
    BOOST_TEST(sut.quiet());
    BOOST_TEST(sut.blamed.size() == 3u);
  }
}

BOOST_AUTO_TEST_CASE(two_deaths_alone_while_finishing_are_poison) {
  rig sut;
  const auto id = sut.submit();
  sut.done(sut.take<prepare>());
  sut.done(sut.take<denoise>());
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(!sut.answered(id));
    sut.take<finish>();
    sut.die();
    sut.rebirth();
  }
  BOOST_TEST((sut.failure_of(id) == ec::poison));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(what_an_operator_kills_is_no_suspect) {
  rig sut;
  const auto id = sut.submit();
  for (int i = 0; i < 15; ++i)
    sut.die_preparing(id, death::outside);
  BOOST_TEST(sut.blamed.empty());
  sut.done(sut.take<prepare>());
  for (uint32_t life = 1; life <= 3; ++life) {
    const auto d = sut.take<denoise>();
    sut.stepping({d.ticket}, scheduler_rig::life(2, life));
    sut.kill(scheduler_rig::life(2, life));
    sut.add_device(scheduler_rig::life(2, life + 1));
  }
  // The request is not by itself either.
  sut.submit();
  sut.done(sut.take<prepare>());
  BOOST_TEST(sut.count<denoise>() == 2u);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(kills_from_outside_end_after_all_attempts) {
  scheduler_rig::options o;
  o.pace.attempts = 3;
  rig sut{o};
  const auto id = sut.submit();
  for (int i = 0; i < 3; ++i)
    sut.die_preparing(id, death::outside);
  BOOST_TEST((sut.failure_of(id) == ec::unavailable));
}

BOOST_AUTO_TEST_CASE(a_phase_that_ends_forgives) {
  rig sut;
  const auto id = sut.submit();
  sut.die_preparing(id);
  sut.die_preparing(id);
  sut.done(sut.take<prepare>());
  sut.done(sut.take<denoise>());
  // The request is a suspect in preparing, not in encoding.
  for (int i = 0; i < 2; ++i) {
    sut.take<finish>();
    sut.die();
    sut.rebirth();
  }
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
}

// -- who is suspected ---------------------------------------------------------

BOOST_AUTO_TEST_CASE(only_what_was_worked_on_is_suspected) {
  rig sut;
  const auto first = sut.submit();
  const auto second = sut.submit();
  BOOST_TEST(sut.count<prepare>() == 2u);
  sut.sent.clear();
  sut.die();
  sut.rebirth();
  // The request that waited behind it continues, and is first.
  const auto free = sut.take<prepare>();
  BOOST_TEST((free.who.id == second));
  BOOST_TEST(sut.count<prepare>() == 0u);
  sut.done(free);
  const auto alone = sut.take<prepare>();
  BOOST_TEST((alone.who.id == first));
}

BOOST_AUTO_TEST_CASE(the_silent_worker_of_a_process_is_to_blame) {
  rig sut;
  const auto encoded = sut.submit();
  sut.done(sut.take<prepare>());
  sut.done(sut.take<denoise>());
  const auto lost = sut.take<finish>();
  sut.tick(4s);
  const auto stuck = sut.submit();
  sut.take<prepare>();
  // The encoder has been silent for too long, the other worker not yet.
  sut.tick(2s);
  BOOST_REQUIRE(sut.suspects.size() == 1u);
  sut.die(death::watchdog);
  sut.rebirth();
  // Neither waits for the other, because the one that prepares is no suspect.
  const auto p = sut.take<prepare>();
  BOOST_TEST((p.who.id == stuck));
  BOOST_TEST(sut.count<finish>() == 0u);
  sut.done(p);
  const auto again = sut.take<finish>();
  BOOST_TEST((again.who.id == encoded));
  BOOST_TEST((again.pixels == lost.pixels));
}

BOOST_AUTO_TEST_CASE(what_was_cancelled_makes_nobody_suspect) {
  rig sut;
  const auto id = sut.submit();
  const auto other = sut.submit();
  sut.cancel(id);
  sut.sent.clear();
  for (int i = 0; i < 3; ++i) {
    sut.die();
    sut.rebirth();
    if (i == 0)
      BOOST_TEST(sut.blamed.size() == 1u);
    const auto p = sut.take<prepare>();
    BOOST_TEST((p.who.id == other));
    // Its own deaths count from now on, because it is in progress now.
    if (i == 0) {
      const auto third = sut.submit();
      const auto q = sut.take<prepare>();
      BOOST_TEST((q.who.id == third));
      sut.done(q);
    }
  }
  BOOST_TEST(!sut.answered(other));
}

// -- alone --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_suspect_has_the_process_to_itself) {
  rig sut;
  const auto busy = sut.submit();
  sut.done(sut.take<prepare>());
  const auto d = sut.take<denoise>();
  const auto suspect = sut.submit();
  sut.die_preparing(suspect);
  const auto alone = sut.take<prepare>();
  BOOST_TEST((alone.who.id == suspect));
  // Nothing is prepared or encoded beside the suspect.
  sut.submit();
  sut.done(d);
  BOOST_TEST(sut.count<prepare>() == 0u);
  BOOST_TEST(sut.count<finish>() == 0u);
  sut.done(alone);
  BOOST_TEST(sut.count<prepare>() == 1u);
  BOOST_TEST(sut.count<finish>() == 1u);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(busy) == ec::none));
  BOOST_TEST((sut.failure_of(suspect) == ec::none));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_trial_begins_when_the_process_is_empty) {
  rig sut;
  const auto suspect = sut.submit();
  sut.take<prepare>();
  sut.die();
  const auto first = sut.submit();
  sut.rebirth();
  const auto p = sut.take<prepare>();
  BOOST_TEST((p.who.id == first));
  // No request was delayed by the death, so new ones may have to wait.
  const auto second = sut.submit();
  BOOST_TEST(sut.count<prepare>() == 0u);
  sut.done(p);
  const auto alone = sut.take<prepare>();
  BOOST_TEST((alone.who.id == suspect));
  BOOST_TEST(sut.count<prepare>() == 0u);
  sut.done(alone);
  BOOST_TEST((sut.take<prepare>().who.id == second));
}

BOOST_AUTO_TEST_CASE(draining_ends_with_the_suspect) {
  rig sut;
  const auto suspect = sut.submit();
  sut.die_preparing(suspect);
  const auto alone = sut.take<prepare>();
  sut.submit();
  BOOST_TEST(sut.count<prepare>() == 0u);
  sut.cancel(suspect);
  // The worker still has it.
  BOOST_TEST(sut.count<prepare>() == 0u);
  sut.reply_prepared(alone.who);
  BOOST_TEST(sut.count<prepare>() == 1u);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST(sut.quiet());
}

// -- once ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_death_delays_those_who_wait_once) {
  scheduler_rig::options o;
  o.slots = {32, 32, 0};
  rig sut{o};
  const auto suspect = sut.submit();
  sut.take<prepare>();
  std::vector<core::request_id> others;
  for (int i = 0; i < 6; ++i)
    others.push_back(sut.submit());
  sut.sent.clear();
  sut.die();
  sut.rebirth();
  // Requests that waited at that time are prepared before the suspect is tried
  // again.
  for (const auto id : others) {
    const auto p = sut.take<prepare>();
    BOOST_TEST((p.who.id == id));
    sut.done(p);
  }
  BOOST_TEST((sut.take<prepare>().who.id == suspect));
  // The trial delays another request, which then precedes the next trial.
  const auto late = sut.submit();
  sut.die();
  sut.rebirth();
  const auto p = sut.take<prepare>();
  BOOST_TEST((p.who.id == late));
  BOOST_TEST(sut.count<prepare>() == 0u);
  sut.done(p);
  sut.die_preparing(suspect);
  BOOST_TEST((sut.failure_of(suspect) == ec::poison));
  BOOST_REQUIRE(sut.work_off());
  for (const auto id : others)
    BOOST_TEST((sut.failure_of(id) == ec::none));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(suspects_take_turns) {
  rig sut;
  const auto a = sut.submit();
  sut.die_preparing(a);
  BOOST_TEST((sut.take<prepare>().who.id == a));
  const auto b = sut.submit();
  sut.die();
  sut.rebirth();
  // The second request was delayed, so it is first. It dies, too.
  sut.die_preparing(b);
  // It was tried less often.
  sut.die_preparing(b);
  sut.die_preparing(a);
  BOOST_TEST((sut.failure_of(a) == ec::poison));
  sut.die_preparing(b);
  BOOST_TEST((sut.failure_of(b) == ec::poison));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_full_arena_holds_no_trial_up_for_ever) {
  scheduler_rig::options o;
  o.slots = {3, 3, 0};
  rig sut{o};
  const auto suspect = sut.submit_image();
  sut.take<prepare>();
  const auto other = sut.submit_image();
  sut.die();
  sut.rebirth();
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(other) == ec::none));
  BOOST_TEST((sut.failure_of(suspect) == ec::none));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_lone_row_of_a_device_lets_others_go_first) {
  rig sut;
  std::vector<denoise> rows;
  for (int i = 0; i < 2; ++i) {
    sut.submit();
    sut.done(sut.take<prepare>());
    rows.push_back(sut.take<denoise>());
  }
  sut.stepping({rows[0].ticket});
  sut.lose(device);
  const auto late = sut.submit();
  sut.done(sut.take<prepare>());
  sut.add_device(scheduler_rig::life(2, 2), 1, 1);
  const auto free = sut.take<denoise>();
  BOOST_TEST((free.ticket.id == rows[1].ticket.id));
  sut.done(free);
  // No request delayed the one that arrived later.
  const auto alone = sut.take<denoise>();
  BOOST_TEST((alone.ticket.id == rows[0].ticket.id));
  sut.done(alone);
  BOOST_TEST((sut.take<denoise>().ticket.id == late));
}

// -- the count that outlives the server ---------------------------------------

BOOST_AUTO_TEST_CASE(a_trial_waits_until_it_is_written_down) {
  rig sut;
  const auto id = sut.submit([](core::request&) {}, {}, true);
  sut.die_preparing(id);
  BOOST_REQUIRE(sut.notes.size() == 1u);
  BOOST_TEST((sut.notes[0].id == id));
  BOOST_TEST((sut.notes[0].how == core::suspicion{phase::preparing, 0, 0, 1}));
  BOOST_TEST(sut.notes[0].waits);
  BOOST_TEST(sut.count<prepare>() == 0u);
  // Other requests continue meanwhile.
  const auto other = sut.submit();
  const auto p = sut.take<prepare>();
  BOOST_TEST((p.who.id == other));
  sut.done(p);
  sut.trial_noted(id);
  sut.die_preparing(id);
  BOOST_TEST(sut.notes.back().how.trials == 2u);
  sut.trial_noted(id);
  sut.die_preparing(id);
  BOOST_TEST((sut.failure_of(id) == ec::poison));
}

BOOST_AUTO_TEST_CASE(a_trial_waits_for_no_other_tenants_turn) {
  scheduler_rig::options o;
  o.slots = {256, 256, 0};
  rig sut{o};
  const auto submit_for = [&](uint32_t tenant) {
    return sut.submit(
      [&](core::request& x) { x.tenant = core::tenant_id{tenant}; });
  };
  for (int i = 0; i < 100; ++i)
    submit_for(2);
  while (const auto p = sut.next<prepare>())
    sut.done(p->second);
  const auto suspect = submit_for(1);
  sut.die_preparing(suspect);
  BOOST_TEST((sut.take<prepare>().who.id == suspect));
}

// Others come as fast as they are answered, so that as many as there may be are
// always prepared ahead of the device.
BOOST_AUTO_TEST_CASE(a_trial_comes_beside_a_steady_crowd) {
  for (const uint32_t tenant : {0u, 1u}) {
    scheduler_rig::options o;
    o.slots = {32, 32, 0};
    scheduler_rig sut{o};
    sut.add_cpu(scheduler_rig::life(1), 4);
    sut.add_device(scheduler_rig::life(2), 4, 4);
    const auto submit_one = [&] {
      return sut.submit(
        [&](core::request& x) { x.tenant = core::tenant_id{tenant}; });
    };
    const auto suspect = submit_one();
    for (int i = 0; i < 30; ++i)
      submit_one();
    BOOST_REQUIRE((sut.take<prepare>().who.id == suspect));
    sut.lose(scheduler_rig::life(1));
    sut.sent.clear();
    sut.add_cpu(scheduler_rig::life(1, 2), 4);
    for (int turn = 0; turn < 100 && !sut.answered(suspect); ++turn) {
      while (const auto p = sut.next<prepare>())
        sut.done(p->second);
      sut.tick(std::chrono::milliseconds{10});
      sut.done(sut.take<denoise>());
      while (const auto f = sut.next<finish>()) {
        sut.done(f->second);
        sut.taken(f->second.who.id);
        submit_one();
      }
    }
    BOOST_TEST(sut.answered(suspect), "tenant " << tenant);
  }
}

BOOST_AUTO_TEST_CASE(what_got_further_is_written_down) {
  rig sut;
  const auto id = sut.submit([](core::request&) {}, {}, true);
  sut.die_preparing(id);
  sut.trial_noted(id);
  sut.done(sut.take<prepare>());
  BOOST_REQUIRE(sut.notes.size() == 2u);
  BOOST_TEST(sut.notes.back().how.trials == 0u);
  BOOST_TEST(!sut.notes.back().waits);
}

BOOST_AUTO_TEST_CASE(a_stop_takes_a_trial_back_that_is_not_over) {
  rig sut;
  const auto id = sut.submit([](core::request&) {}, {}, true);
  sut.die_preparing(id);
  sut.trial_noted(id);
  sut.die_preparing(id);
  sut.trial_noted(id);
  sut.take<prepare>();
  sut.stop();
  BOOST_TEST(sut.notes.back().how.trials == 1u);
  BOOST_TEST(!sut.notes.back().waits);
}

BOOST_AUTO_TEST_CASE(the_count_goes_on_where_it_was) {
  rig sut;
  const core::suspicion held{phase::preparing, 0, 0, 1};
  const auto id = sut.submit([](core::request&) {}, held, true);
  BOOST_REQUIRE(sut.notes.size() == 1u);
  BOOST_TEST(sut.notes[0].how.trials == 2u);
  sut.trial_noted(id);
  sut.die_preparing(id);
  BOOST_TEST((sut.failure_of(id) == ec::poison));
  // The last permitted trial was begun before.
  const core::suspicion over{phase::preparing, 0, 0, 2};
  const auto last = sut.submit([](core::request&) {}, over, true);
  BOOST_TEST((sut.failure_of(last) == ec::poison));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(the_count_is_that_of_a_phase_and_its_steps) {
  rig sut;
  const core::suspicion held{phase::denoising, 0, 2, 1};
  const auto id = sut.submit([](core::request&) {}, held, true);
  // Preparing does not count as a trial.
  sut.done(sut.take<prepare>());
  BOOST_REQUIRE(sut.notes.size() == 1u);
  BOOST_TEST((sut.notes[0].how == core::suspicion{phase::denoising, 0, 2, 2}));
  sut.trial_noted(id);
  const auto d = sut.take<denoise>();
  sut.stepping({d.ticket});
  // It had two steps before, so it has gained nothing.
  sut.stepped(d, 2);
  sut.lose(device);
  BOOST_TEST((sut.failure_of(id) == ec::poison));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_SUITE_END()
