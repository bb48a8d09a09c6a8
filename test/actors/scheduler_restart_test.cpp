// SPDX-License-Identifier: Apache-2.0

// A worker left things that are not what they should be: states that cannot be
// read, numbers that cannot be true, answers of the wrong kind.

#include "actors/scheduler_rig.hpp"

namespace {

using namespace atelier;
using actors::denoise;
using core::ec;
using test::finish;
using test::prepare;
using test::scheduler_rig;

constexpr auto device = scheduler_rig::life(2);
constexpr auto reborn = scheduler_rig::life(2, 2);

struct rig : scheduler_rig {
  rig() {
    add_cpu();
    add_device(device);
    id = submit();
    done(take<prepare>());
    first = take<denoise>();
    stepping({first.ticket});
  }

  // The device could not read the state that it was given.
  void unread(const denoise& x, ec code = ec::io_failed) {
    actors::denoised r;
    r.ticket = x.ticket;
    r.failure = core::fail(code, "torn");
    on(r);
  }

  void expect_image() {
    BOOST_REQUIRE(work_off());
    BOOST_TEST((failure_of(id) == ec::none));
    BOOST_TEST(quiet());
  }

  uint64_t restarts() const {
    return sut->counts().legs_restarted;
  }

  core::request_id id;
  denoise first;
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_restart_test)

BOOST_AUTO_TEST_CASE(a_state_that_cannot_be_read_begins_its_leg_anew) {
  for (const auto code : {ec::io_failed, ec::bad_payload, ec::not_found}) {
    rig sut;
    sut.stepped(sut.first, 2);
    sut.kill(device);
    sut.add_device(reborn);
    const auto again = sut.take<denoise>();
    BOOST_TEST((again.from == sut.first.state));
    sut.unread(again, code);
    BOOST_TEST(sut.restarts() == 1u);
    // The noise is drawn again from the seed.
    sut.done(sut.take<prepare>());
    const auto anew = sut.take<denoise>();
    BOOST_TEST(anew.steps_done == 0u);
    sut.done(anew);
    sut.expect_image();
  }
}

BOOST_AUTO_TEST_CASE(torn_noise_is_drawn_again_and_bad_noise_is_an_error) {
  {
    rig sut;
    sut.unread(sut.first);
    BOOST_TEST(sut.restarts() == 1u);
    sut.expect_image();
  }
  rig sut;
  sut.unread(sut.first, ec::bad_payload);
  BOOST_TEST((sut.failure_of(sut.id) == ec::bad_payload));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_source_is_made_again_with_its_leg) {
  scheduler_rig sut;
  sut.add_cpu();
  sut.add_device(device);
  const auto id = sut.submit_image();
  sut.done(sut.take<prepare>());
  const auto d = sut.take<denoise>();
  actors::denoised r;
  r.ticket = d.ticket;
  r.failure = core::fail(ec::io_failed, "torn");
  sut.on(r);
  BOOST_REQUIRE(sut.count<prepare>() == 1u);
  BOOST_REQUIRE(sut.work_off());
  BOOST_TEST((sut.failure_of(id) == ec::none));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_publication_that_cannot_be_true_is_none) {
  {
    rig sut;
    // The dying device wrote nonsense before it reported anything.
    BOOST_REQUIRE(sut.store->publish(sut.first.state, 0x7fffffff, 0));
    sut.kill(device);
    sut.add_device(reborn);
    const auto again = sut.take<denoise>();
    BOOST_TEST((again.from == sut.first.from));
    BOOST_TEST(again.steps_done == 0u);
    BOOST_TEST(sut.restarts() == 0u);
    sut.done(again);
    sut.expect_image();
  }
  rig sut;
  // The state with which it began is freed already.
  sut.stepped(sut.first, 2);
  BOOST_REQUIRE(sut.store->publish(sut.first.state, 0x7fffffff, 0));
  sut.kill(device);
  sut.add_device(reborn);
  BOOST_TEST(sut.restarts() == 1u);
  sut.expect_image();
  BOOST_TEST(sut.answer_to(sut.id).steps_run < 10u);
}

BOOST_AUTO_TEST_CASE(a_leg_does_not_begin_anew_for_ever) {
  rig sut;
  auto d = sut.first;
  for (uint32_t i = 0; i < actors::most_restarts; ++i) {
    sut.unread(d);
    sut.done(sut.take<prepare>());
    d = sut.take<denoise>();
  }
  BOOST_TEST(!sut.answered(sut.id));
  sut.unread(d);
  BOOST_TEST((sut.failure_of(sut.id) == ec::io_failed));
  BOOST_TEST(sut.quiet());
}

BOOST_AUTO_TEST_CASE(a_suspect_stays_one_when_its_leg_begins_anew) {
  rig sut;
  sut.stepped(sut.first, 2);
  sut.lose(device);
  sut.add_device(reborn);
  sut.unread(sut.take<denoise>());
  sut.done(sut.take<prepare>());
  const auto alone = sut.take<denoise>();
  sut.submit();
  sut.done(sut.take<prepare>());
  BOOST_TEST(sut.count<denoise>() == 0u);
  sut.done(alone);
  sut.expect_image();
}

BOOST_AUTO_TEST_CASE(steps_that_cannot_be_true_are_no_progress) {
  rig sut;
  const auto before = sut.sut->counts().stale_replies;
  actors::stepped x;
  x.worker = scheduler_rig::device_at(device);
  x.rows = {{sut.first.ticket, 1'000'000, true}};
  sut.on(x);
  BOOST_TEST(sut.sut->counts().stale_replies == before + 1);
  BOOST_REQUIRE(sut.store->publish(sut.first.image, 1, 0));
  actors::denoised r;
  r.ticket = sut.first.ticket;
  r.steps_done = r.steps_run = 4'000'000'000;
  sut.on(r);
  sut.expect_image();
  BOOST_TEST(sut.answer_to(sut.id).steps_run == 4u);
}

BOOST_AUTO_TEST_CASE(a_step_of_another_worker_says_nothing_of_a_row) {
  rig sut;
  sut.add_device(scheduler_rig::life(3));
  const auto before = sut.sut->counts().stale_replies;
  actors::stepped x;
  x.worker = scheduler_rig::device_at(scheduler_rig::life(3));
  x.rows = {{sut.first.ticket, 2, true}};
  sut.on(x);
  BOOST_TEST(sut.sut->counts().stale_replies == before + 1);
  sut.done(sut.first);
  sut.expect_image();
}

BOOST_AUTO_TEST_CASE(an_answer_of_the_wrong_kind_ends_no_order) {
  rig sut;
  const auto other = sut.submit();
  const auto p = sut.take<prepare>();
  sut.reply_denoised(p.who);
  sut.reply_prepared(sut.first.ticket);
  BOOST_TEST(sut.sut->counts().stale_replies == 2u);
  sut.done(p);
  sut.done(sut.first);
  sut.expect_image();
  BOOST_TEST((sut.failure_of(other) == ec::none));
}

BOOST_AUTO_TEST_SUITE_END()
