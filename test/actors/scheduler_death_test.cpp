// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using core::ec;
using ipc::slot_kind;
using test::finish;
using test::prepare;
using test::scheduler_rig;

constexpr auto cpu = scheduler_rig::life(1);
constexpr auto device = scheduler_rig::life(2);
constexpr auto reborn = scheduler_rig::life(2, 2);

// A rig with one request that runs on a device.
struct denoising : scheduler_rig {
  explicit denoising(options o = {}) : scheduler_rig(std::move(o)) {
    add_cpu();
    add_device(device);
    id = submit();
    done(take<prepare>());
    first = take<denoise>();
  }

  core::request_id id;
  denoise first;
};

// The worker of the next life dies with `who` in its batch.
denoise die_running(scheduler_rig& rig, uint32_t& life, core::request_id id) {
  const auto d = rig.take<denoise>();
  BOOST_TEST((d.ticket.id == id));
  rig.stepping({d.ticket}, scheduler_rig::life(2, life));
  rig.lose(scheduler_rig::life(2, life));
  ++life;
  rig.add_device(scheduler_rig::life(2, life));
  return d;
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_death_test)

BOOST_AUTO_TEST_CASE(a_death_while_preparing_prepares_again) {
  scheduler_rig rig;
  rig.add_cpu();
  const auto id = rig.submit();
  const auto lost = rig.take<prepare>();
  rig.lose(cpu);
  BOOST_TEST(rig.free_slots(slot_kind::state) == 8u);
  rig.add_cpu(scheduler_rig::life(1, 2));
  const auto again = rig.take<prepare>();
  BOOST_TEST((again.who.id == id));
  BOOST_TEST(again.who.attempt == lost.who.attempt + 1);
  BOOST_TEST((again.state != lost.state));
  BOOST_TEST(rig.sut->counts().workers_lost == 2u);
}

BOOST_AUTO_TEST_CASE(a_death_before_the_first_step_starts_from_the_noise) {
  denoising rig;
  rig.lose(device);
  BOOST_TEST(rig.sut->counts().resumed == 0u);
  rig.add_device(reborn);
  const auto d = rig.take<denoise>();
  BOOST_TEST((d.from == rig.first.from));
  BOOST_TEST((d.state != rig.first.state));
  BOOST_TEST(d.steps_done == 0u);
}

BOOST_AUTO_TEST_CASE(a_death_after_steps_resumes_at_what_was_published) {
  denoising rig;
  rig.stepped(rig.first, 1);
  // The step is published, but its report is lost.
  BOOST_REQUIRE(rig.store->publish(rig.first.state, 4, 0));
  rig.lose(device);
  BOOST_TEST(rig.sut->counts().resumed == 1u);
  rig.add_device(reborn);
  const auto d = rig.take<denoise>();
  BOOST_TEST((d.from == rig.first.state));
  BOOST_TEST(d.steps_done == 3u);
  // The old slot is kept until the new worker publishes.
  BOOST_TEST(rig.free_slots(slot_kind::state) == 6u);
  rig.stepped(d, 4, reborn);
  BOOST_TEST(rig.free_slots(slot_kind::state) == 7u);
  rig.done(d);
  rig.done(rig.take<finish>());
  BOOST_TEST(rig.answer_to(rig.id).steps_run == 7u);
}

BOOST_AUTO_TEST_CASE(a_death_after_the_last_step_leaves_only_decoding) {
  denoising rig;
  rig.stepped(rig.first, 4);
  rig.lose(device);
  rig.add_device(reborn);
  const auto d = rig.take<denoise>();
  BOOST_TEST(d.steps_done == 4u);
  rig.done(d);
  rig.done(rig.take<finish>());
  BOOST_TEST((rig.failure_of(rig.id) == ec::none));
  rig.taken(rig.id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_death_while_finishing_encodes_again_from_the_pixels) {
  denoising rig;
  rig.done(rig.first);
  const auto lost = rig.take<finish>();
  rig.lose(cpu);
  rig.add_cpu(scheduler_rig::life(1, 2));
  const auto again = rig.take<finish>();
  BOOST_TEST((again.pixels == lost.pixels));
  BOOST_TEST((again.encoded != lost.encoded));
  rig.done(again);
  rig.taken(rig.id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(
  an_unconfirmed_death_keeps_its_slots_until_it_is_confirmed) {
  denoising rig;
  rig.stepped(rig.first, 2);
  rig.lose(device, false);
  BOOST_TEST(rig.sut->keeper().census(slot_kind::state).quarantined == 1u);
  BOOST_TEST(rig.sut->keeper().census(slot_kind::image).quarantined == 1u);
  rig.add_device(scheduler_rig::life(3));
  const auto d = rig.take<denoise>();
  BOOST_TEST((d.from == rig.first.state));
  rig.stepped(d, 3, scheduler_rig::life(3));
  rig.done(d);
  rig.done(rig.take<finish>());
  rig.taken(rig.id);
  BOOST_TEST(rig.sut->rows() == 0u);
  // The old worker may still write.
  BOOST_TEST(rig.sut->keeper().census(slot_kind::state).quarantined == 1u);
  rig.lose(device, true);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_living_dead_that_went_on_is_resumed_where_it_is) {
  denoising rig;
  rig.stepped(rig.first, 1);
  rig.lose(device, false);
  BOOST_REQUIRE(rig.store->publish(rig.first.state, 4, 0));
  rig.add_device(scheduler_rig::life(3));
  // The sender knows of one step; the worker will find three.
  const auto d = rig.take<denoise>();
  BOOST_TEST(d.steps_done == 1u);
  rig.stepped(d, 4, scheduler_rig::life(3));
  rig.lose(scheduler_rig::life(3), false);
  rig.lose(device);
  rig.lose(scheduler_rig::life(3));
  rig.add_device(reborn);
  const auto last = rig.take<denoise>();
  BOOST_TEST((last.from == d.state));
  rig.done(last);
  rig.done(rig.take<finish>());
  rig.taken(rig.id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_suspected_worker_gets_nothing_but_may_still_reply) {
  denoising rig;
  rig.suspect(device);
  BOOST_TEST(rig.sut->cluster().workers.empty());
  rig.submit();
  rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<denoise>() == 0u);
  rig.stepped(rig.first, 4);
  rig.done(rig.first);
  rig.done(rig.take<finish>());
  BOOST_TEST((rig.failure_of(rig.id) == ec::none));
  rig.lose(device);
  rig.taken(rig.id);
  rig.add_device(reborn);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_suspected_life_that_announces_itself_blocks_nobody) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.suspect(device);
  rig.add_device(device);
  rig.add_device(scheduler_rig::life(3));
  rig.submit();
  rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(a_silent_worker_is_suspected_once) {
  denoising rig;
  // The predicted time is 4 rows with steps of 10 ms, text and decoding. The
  // limit is 8 times that, and 5 s.
  rig.tick(5s);
  BOOST_TEST(rig.suspects.empty());
  rig.stepping({rig.first.ticket});
  rig.tick(5s);
  BOOST_TEST(rig.suspects.empty());
  rig.tick(1s);
  BOOST_REQUIRE(rig.suspects.size() == 1u);
  BOOST_TEST((rig.suspects[0] == device));
  rig.tick(10s);
  BOOST_TEST(rig.suspects.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_idle_worker_is_never_suspected) {
  denoising rig;
  rig.done(rig.first);
  rig.done(rig.take<finish>());
  rig.tick(1h);
  BOOST_TEST(rig.suspects.empty());
  BOOST_TEST(!rig.sut->wants_tick());
}

BOOST_AUTO_TEST_CASE(a_cancelled_row_dies_quietly_with_its_worker) {
  denoising rig;
  rig.cancel(rig.id);
  rig.lose(device);
  BOOST_TEST(rig.quiet());
  BOOST_TEST((rig.failure_of(rig.id) == ec::cancelled));
}

// -- poison -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(batch_mates_of_a_death_run_alone_one_after_the_other) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  for (int i = 0; i < 3; ++i) {
    rig.submit();
    rig.done(rig.take<prepare>());
  }
  const auto a = rig.take<denoise>();
  const auto b = rig.take<denoise>();
  const auto c = rig.take<denoise>();
  rig.stepping({a.ticket, b.ticket});
  rig.lose(device);
  rig.add_device(reborn);
  // The third request waited, and runs with others.
  const auto free = rig.take<denoise>();
  BOOST_TEST((free.ticket.id == c.ticket.id));
  BOOST_TEST(rig.count<denoise>() == 0u);
  // The worker drains for the first of the two.
  rig.submit();
  rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<denoise>() == 0u);
  rig.done(free);
  const auto alone = rig.take<denoise>();
  BOOST_TEST((alone.ticket.id == a.ticket.id));
  BOOST_TEST(rig.count<denoise>() == 0u);
  BOOST_REQUIRE(rig.sut->cluster().workers.at(0).seats_taken == 1u);
  rig.done(alone);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST(rig.quiet());
  BOOST_TEST(rig.sut->counts().answered == 4u);
}

BOOST_AUTO_TEST_CASE(draining_ends_when_the_lone_row_is_cancelled) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  rig.stepping({rig.take<denoise>().ticket});
  const auto other = rig.submit();
  rig.done(rig.take<prepare>());
  rig.take<denoise>();
  rig.lose(device);
  rig.add_device(reborn);
  const auto d = rig.take<denoise>();
  BOOST_TEST((d.ticket.id == other));
  rig.cancel(id);
  rig.submit();
  rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(two_deaths_alone_without_a_step_are_poison) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  uint32_t life = 1;
  die_running(rig, life, id);
  die_running(rig, life, id);
  BOOST_TEST(!rig.answered(id));
  die_running(rig, life, id);
  BOOST_TEST((rig.failure_of(id) == ec::poison));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_step_gained_forgives) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  uint32_t life = 1;
  die_running(rig, life, id);
  for (uint32_t steps = 1; steps < 4; ++steps) {
    die_running(rig, life, id);
    const auto d = rig.take<denoise>();
    rig.stepping({d.ticket}, scheduler_rig::life(2, life));
    rig.stepped(d, steps, scheduler_rig::life(2, life));
    rig.lose(scheduler_rig::life(2, life));
    rig.add_device(scheduler_rig::life(2, ++life));
  }
  BOOST_TEST(!rig.answered(id));
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(deaths_of_rows_that_did_not_run_are_no_strikes) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  for (uint32_t life = 1; life < 15; ++life) {
    rig.take<denoise>();
    rig.lose(scheduler_rig::life(2, life));
    rig.add_device(scheduler_rig::life(2, life + 1));
  }
  BOOST_TEST(!rig.answered(id));
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_failure_that_a_living_worker_tells_is_no_strike) {
  scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  rig.submit();
  rig.done(rig.take<prepare>());
  for (int i = 0; i < 3; ++i) {
    const auto d = rig.take<denoise>();
    rig.stepping({d.ticket});
    rig.reply_denoised(d.ticket, core::fail(ec::out_of_resources, "memory"));
  }
  // The request is not by itself either: another one runs beside it.
  rig.submit();
  rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<denoise>() == 2u);
  BOOST_TEST(rig.answers.empty());
}

BOOST_AUTO_TEST_CASE(steps_of_a_failed_attempt_are_counted_once) {
  denoising rig;
  rig.stepped(rig.first, 2);
  actors::denoised r;
  r.ticket = rig.first.ticket;
  r.failure = core::fail(ec::unavailable, "gone");
  r.steps_done = 2;
  r.steps_run = 2;
  rig.on(r);
  const auto d = rig.take<denoise>();
  BOOST_TEST(d.steps_done == 2u);
  rig.stepped(d, 4);
  r = {};
  r.ticket = d.ticket;
  r.steps_run = 2;
  BOOST_REQUIRE(rig.store->publish(d.image, 1, 0));
  rig.on(r);
  rig.done(rig.take<finish>());
  BOOST_TEST(rig.answer_to(rig.id).steps_run == 4u);
}

BOOST_AUTO_TEST_CASE(a_row_fails_as_unavailable_after_all_attempts) {
  scheduler_rig::options o;
  o.pace.attempts = 3;
  scheduler_rig rig{o};
  rig.add_cpu();
  rig.add_device(device);
  const auto id = rig.submit();
  rig.done(rig.take<prepare>());
  for (uint32_t life = 1; life <= 3; ++life) {
    BOOST_TEST(!rig.answered(id));
    rig.take<denoise>();
    rig.lose(scheduler_rig::life(2, life));
    rig.add_device(scheduler_rig::life(2, life + 1));
  }
  BOOST_TEST((rig.failure_of(id) == ec::unavailable));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_SUITE_END()
