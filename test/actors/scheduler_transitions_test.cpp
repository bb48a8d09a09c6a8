// SPDX-License-Identifier: Apache-2.0
// Every transition of a row by itself. The file is long because it is one table
// of cases.
#include "actors/scheduler_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::phase;
using core::ec;
using test::finish;
using test::prepare;

constexpr auto cpu = test::scheduler_rig::life(1);
constexpr auto device = test::scheduler_rig::life(2);

// A rig with one request, which a test brings to the start of a phase, or into
// it.
struct one_request : test::scheduler_rig {
  explicit one_request(core::time_point deadline = core::never) {
    id = submit([&](core::request& x) { x.deadline = deadline; });
  }

  // The request waits for a worker of `at`.
  void wait_for(phase at) {
    if (at == phase::preparing)
      return;
    add_preprocess();
    done(take<prepare>());
    if (at == phase::denoising)
      return;
    add_device(device);
    done(take<denoise>());
  }

  // A worker runs the request in `at`; its work is not taken yet.
  void run(phase at) {
    wait_for(at);
    if (at == phase::preparing)
      add_preprocess();
    else if (at == phase::denoising)
      add_device(device);
    else
      add_postprocess();
    BOOST_REQUIRE(sent.size() == 1);
  }

  // The worker of the phase replies. If all went well, it publishes first.
  void reply(phase at, core::error why = {}) {
    if (at == phase::preparing) {
      const auto x = take<prepare>();
      if (why.code == ec::none)
        done(x);
      else
        reply_prepared(x.who, why);
    } else if (at == phase::denoising) {
      const auto x = take<denoise>();
      if (why.code == ec::none)
        done(x);
      else
        reply_denoised(x.ticket, why);
    } else {
      const auto x = take<finish>();
      if (why.code == ec::none)
        done(x);
      else
        reply_finished(x.who, why);
    }
  }

  core::ticket ticket_of_work() {
    return test::ticket_of(sent.front().what);
  }

  void reply_as(phase at, core::ticket who) {
    if (at == phase::preparing)
      reply_prepared(who);
    else if (at == phase::denoising)
      reply_denoised(who);
    else
      reply_finished(who);
  }

  // Everything in progress ends well, and nothing of it remains.
  void ends_quietly() {
    add_all();
    BOOST_REQUIRE(work_off());
    BOOST_TEST(quiet());
  }

  void add_all() {
    add_preprocess();
    add_device(device);
    add_postprocess();
  }

  void add_preprocess() {
    actors::worker_ready x;
    x.seats = 4;
    x.worker = preprocess_at(cpu);
    on(x);
  }

  void add_postprocess() {
    actors::worker_ready x;
    x.seats = 4;
    x.worker = postprocess_at(cpu);
    on(x);
  }

  uint64_t stale() const {
    return sut->counts().stale_replies;
  }

  core::request_id id;
};

constexpr phase phases[] = {phase::preparing, phase::denoising,
                            phase::finishing};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_transitions_test)

BOOST_AUTO_TEST_CASE(a_request_is_prepared_denoised_finished_and_answered) {
  test::scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto id = rig.submit();
  const auto p = rig.take<prepare>();
  BOOST_TEST(p.how.steps == 4u);
  rig.done(p);
  const auto d = rig.take<denoise>();
  BOOST_TEST((d.from == p.state));
  BOOST_TEST((d.state != p.state));
  BOOST_TEST(d.ticket.attempt == p.who.attempt + 1);
  rig.stepped(d, 1);
  rig.stepped(d, 4);
  rig.done(d);
  const auto f = rig.take<finish>();
  BOOST_TEST((f.pixels == d.image));
  BOOST_TEST(!rig.answered(id));
  rig.done(f);
  const auto& a = rig.answer_to(id);
  BOOST_TEST((a.failure.code == ec::none));
  BOOST_TEST((a.image == f.encoded));
  BOOST_TEST(a.bytes == 7u);
  BOOST_TEST(a.sha256 == "sum");
  BOOST_TEST(a.variant == "card@4");
  BOOST_TEST(a.steps_run == 4u);
  BOOST_TEST(rig.sut->counts().answered == 1u);
  rig.taken(id);
  BOOST_TEST(rig.quiet());
  BOOST_TEST(rig.sent.empty());
}

BOOST_AUTO_TEST_CASE(steps_are_counted_by_the_rows_of_their_batch) {
  one_request rig;
  rig.run(phase::denoising);
  for (const auto& [rows, steps] :
       {std::pair{1u, 2u}, {3u, 1u}, {3u, 4u}, {0u, 1u}, {1000u, 1u}}) {
    actors::stepped s;
    s.worker = test::scheduler_rig::device_at(test::scheduler_rig::life(2));
    s.batch = rows;
    s.steps = steps;
    rig.on(s);
  }
  const auto counts = rig.sut->counts().batches;
  BOOST_REQUIRE(counts.size() == 65u);
  BOOST_TEST(counts[0] == 0u);
  BOOST_TEST(counts[1] == 2u);
  BOOST_TEST(counts[3] == 5u);
  BOOST_TEST(counts[64] == 1u);
}

BOOST_AUTO_TEST_CASE(a_waiting_request_is_cancelled_in_each_phase) {
  for (const auto at : phases) {
    one_request rig;
    rig.wait_for(at);
    rig.cancel(rig.id);
    BOOST_TEST((rig.failure_of(rig.id) == ec::cancelled));
    BOOST_TEST(rig.quiet());
    rig.ends_quietly();
    BOOST_TEST(rig.sut->counts().dispatched == static_cast<uint64_t>(at));
  }
}

BOOST_AUTO_TEST_CASE(a_running_request_is_cancelled_at_once_in_each_phase) {
  for (const auto at : phases) {
    one_request rig;
    rig.run(at);
    const auto who = rig.ticket_of_work();
    rig.cancel(rig.id);
    BOOST_TEST((rig.failure_of(rig.id) == ec::cancelled));
    BOOST_TEST((rig.take<actors::cancel_work>().ticket == who));
    // Its slots are freed by the worker's reply, not earlier.
    BOOST_TEST(!rig.quiet());
    rig.reply_as(at, who);
    BOOST_TEST(rig.stale() == 0u);
    BOOST_TEST(rig.quiet());
    BOOST_TEST(rig.sut->counts().cancelled == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_cancel_after_the_end_changes_nothing) {
  one_request rig;
  rig.add_all();
  while (!rig.answered(rig.id))
    rig.reply(test::phase_of(rig.sent.front().what));
  rig.cancel(rig.id);
  BOOST_TEST((rig.failure_of(rig.id) == ec::none));
  rig.taken(rig.id);
  rig.cancel(rig.id);
  rig.cancel(core::request_id{77});
  BOOST_TEST(rig.sut->counts().cancelled == 0u);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_waiting_request_misses_its_deadline_in_each_phase) {
  for (const auto at : phases) {
    one_request rig{test::scheduler_rig{}.now + 1s};
    rig.wait_for(at);
    rig.tick(999ms);
    BOOST_TEST(!rig.answered(rig.id));
    rig.tick(1ms);
    BOOST_TEST((rig.failure_of(rig.id) == ec::deadline_missed));
    BOOST_TEST(rig.sut->counts().late == 1u);
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_running_request_misses_its_deadline_in_each_phase) {
  for (const auto at : phases) {
    one_request rig{test::scheduler_rig{}.now + 1s};
    rig.run(at);
    const auto who = rig.ticket_of_work();
    rig.tick(1s);
    BOOST_TEST((rig.failure_of(rig.id) == ec::deadline_missed));
    BOOST_TEST((rig.take<actors::cancel_work>().ticket == who));
    rig.reply_as(at, who);
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_end_in_time_is_not_begun) {
  // A step takes 10 ms, so 20 ms are too short for 4.
  one_request rig{test::scheduler_rig{}.now + 20ms};
  rig.wait_for(phase::denoising);
  rig.add_device(device);
  BOOST_TEST((rig.failure_of(rig.id) == ec::deadline_missed));
  BOOST_TEST(rig.sent.empty());
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_duplicate_reply_is_dropped_in_each_phase) {
  for (const auto at : phases) {
    one_request rig;
    rig.run(at);
    const auto who = rig.ticket_of_work();
    rig.reply(at);
    BOOST_TEST(rig.stale() == 0u);
    const auto before = rig.sut->counts();
    rig.reply_as(at, who);
    BOOST_TEST(rig.stale() == 1u);
    BOOST_TEST(rig.sut->counts().answered == before.answered);
    rig.ends_quietly();
    BOOST_TEST((rig.failure_of(rig.id) == ec::none));
  }
}

BOOST_AUTO_TEST_CASE(a_reply_of_another_attempt_is_dropped_in_each_phase) {
  for (const auto at : phases) {
    one_request rig;
    rig.run(at);
    auto who = rig.ticket_of_work();
    for (const uint32_t attempt : {who.attempt + 1, who.attempt - 1}) {
      who.attempt = attempt;
      rig.reply_as(at, who);
    }
    rig.reply_as(at, {core::request_id{99}, 1});
    BOOST_TEST(rig.stale() == 3u);
    BOOST_TEST(!rig.answered(rig.id));
    rig.ends_quietly();
    BOOST_TEST((rig.failure_of(rig.id) == ec::none));
  }
}

BOOST_AUTO_TEST_CASE(a_reply_of_a_buried_life_is_dropped_in_each_phase) {
  for (const auto at : phases) {
    one_request rig;
    rig.run(at);
    const auto who = rig.ticket_of_work();
    const auto dead = rig.sent.front().to.process;
    rig.sent.clear();
    rig.lose(dead);
    rig.reply_as(at, who);
    BOOST_TEST(rig.stale() == 1u);
    // The dead worker does not announce itself again, and makes no step.
    rig.add_device(dead);
    rig.stepping({who}, dead);
    rig.on(
      actors::stepped{test::scheduler_rig::device_at(dead), {{who, 3, false}}});
    BOOST_TEST(rig.stale() == 4u);
    BOOST_TEST(rig.sent.empty());
    rig.add_cpu(test::scheduler_rig::life(1, 2));
    rig.add_device(test::scheduler_rig::life(2, 2));
    BOOST_REQUIRE(rig.work_off());
    BOOST_TEST((rig.failure_of(rig.id) == ec::none));
  }
}

BOOST_AUTO_TEST_CASE(
  a_reply_after_cancel_and_before_the_end_gives_the_seat_back) {
  one_request rig;
  rig.run(phase::denoising);
  const auto d = rig.take<denoise>();
  rig.cancel(rig.id);
  rig.done(d);
  BOOST_TEST(rig.sut->cluster().workers.front().seats_free == 4u);
  BOOST_TEST((rig.failure_of(rig.id) == ec::cancelled));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_request_ends_it_in_each_phase) {
  for (const auto at : phases) {
    one_request rig;
    rig.run(at);
    rig.reply(at, core::fail(ec::bad_payload, "no"));
    BOOST_TEST((rig.failure_of(rig.id) == ec::bad_payload));
    BOOST_TEST(rig.answer_to(rig.id).failure.text == "no");
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_place_is_tried_again_in_each_phase) {
  for (const auto at : phases)
    for (const auto code : {ec::unavailable, ec::out_of_resources,
                            ec::io_failed, ec::incompatible, ec::cancelled}) {
      one_request rig;
      rig.run(at);
      rig.reply(at, core::fail(code, "not here"));
      BOOST_TEST(!rig.answered(rig.id));
      BOOST_TEST(rig.sent.size() == 1u);
      rig.ends_quietly();
      BOOST_TEST((rig.failure_of(rig.id) == ec::none));
    }
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_place_ends_a_request_after_all_attempts) {
  using attempts = std::pair<ec, uint32_t>;
  for (const auto at : phases)
    for (const auto& [code, most] :
         {attempts{ec::unavailable, config::scheduler_settings{}.attempts},
          attempts{ec::out_of_resources, 4}}) {
      one_request rig;
      rig.run(at);
      for (uint32_t i = 0; i < most; ++i) {
        BOOST_TEST(!rig.answered(rig.id));
        rig.reply(at, core::fail(code, "not here"));
      }
      BOOST_TEST((rig.failure_of(rig.id) == code));
      BOOST_TEST(rig.quiet());
    }
}

BOOST_AUTO_TEST_CASE(an_answered_images_slot_is_held_until_it_is_taken) {
  one_request rig;
  rig.add_all();
  while (!rig.answered(rig.id))
    rig.reply(test::phase_of(rig.sent.front().what));
  const auto image = rig.answer_to(rig.id).image;
  BOOST_TEST(rig.free_slots(ipc::slot_kind::image) == 7u);
  BOOST_TEST(rig.free_slots(ipc::slot_kind::state) == 8u);
  BOOST_TEST(rig.sut->keeper().state_of(image).has_value());
  BOOST_TEST(rig.sut->rows() == 1u);
  rig.taken(rig.id);
  BOOST_TEST(rig.quiet());
  rig.taken(rig.id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(progress_is_told_to_those_who_want_it_alone) {
  test::scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto wants =
    rig.submit([](core::request& x) { x.wants_progress = true; });
  rig.submit();
  for (int i = 0; i < 2; ++i)
    rig.done(rig.take<prepare>());
  const auto a = rig.take<denoise>();
  const auto b = rig.take<denoise>();
  BOOST_TEST(a.wants_progress);
  BOOST_TEST(!b.wants_progress);
  rig.stepped(a, 1);
  rig.stepped(b, 1);
  rig.stepped(a, 2);
  const std::vector<test::scheduler_rig::progress> expected = {{wants, 1, 4},
                                                               {wants, 2, 4}};
  BOOST_TEST((rig.told == expected));
  rig.cancel(wants);
  rig.stepped(a, 3);
  BOOST_TEST((rig.told == expected));
}

BOOST_AUTO_TEST_CASE(where_a_preview_may_be_is_told_with_the_progress) {
  test::scheduler_rig rig;
  rig.add_cpu();
  rig.add_device(device);
  const auto wants = rig.submit([](core::request& x) {
    x.wants_progress = true;
    x.preview_every = 2;
  });
  rig.done(rig.take<prepare>());
  const auto a = rig.take<denoise>();
  BOOST_TEST(a.preview_every == 2u);
  rig.stepped(a, 2);
  const std::vector<test::scheduler_rig::progress> expected = {
    {wants, 2, 4, a.state}};
  BOOST_TEST((rig.told == expected));
}

BOOST_AUTO_TEST_CASE(stop_fails_everything_and_refuses_from_then_on) {
  for (const auto at : phases) {
    one_request rig;
    rig.run(at);
    const auto who = rig.ticket_of_work();
    const auto other = rig.submit();
    rig.stop();
    BOOST_TEST((rig.failure_of(rig.id) == ec::stopping));
    BOOST_TEST((rig.failure_of(other) == ec::stopping));
    BOOST_TEST((rig.failure_of(rig.submit()) == ec::stopping));
    const auto sent = std::exchange(rig.sent, {});
    for (const auto& x : sent) {
      if (const auto p = test::read_as<prepare>(x.what))
        rig.reply_prepared(p->who);
    }
    if (at != phase::preparing)
      rig.reply_as(at, who);
    BOOST_TEST(rig.quiet());
    rig.stop();
  }
}

BOOST_AUTO_TEST_SUITE_END()
