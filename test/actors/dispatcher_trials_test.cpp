// SPDX-License-Identifier: Apache-2.0

// Rows that run alone at devices. dispatcher_pool_trials_test has those of
// pools.

#include "actors/trials_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::alone_queue;
using actors::pool_suspects_queue;
using actors::role;
using actors::row_state;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_4;
using test::parts_rig;

struct rig : test::trials_rig {
  actors::dispatcher& sut = dispatcher;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(dispatcher_trials_test, rig)

BOOST_AUTO_TEST_CASE(suspect_has_an_idle_device_to_itself) {
  auto& w = serving(2);
  auto& r = suspect();
  pump();
  BOOST_TEST(runs_alone(r));
  BOOST_TEST(w.trial.exclusive());
  BOOST_TEST(!w.trial.draining());
  BOOST_TEST(!offers(w, queue_of(card_4)));
  const auto& other = waits_to_draw();
  pump();
  BOOST_TEST((queue(other) == queue_of(card_4)));
}

BOOST_AUTO_TEST_CASE(busy_device_takes_no_row_until_the_suspect_ran) {
  auto& w = serving(2);
  const auto running = draws_at(w);
  out.offer(w);
  auto& r = suspect();
  pump();
  BOOST_TEST(!runs(r));
  BOOST_TEST(w.trial.draining());
  auto& other = waits_to_draw();
  pump();
  BOOST_TEST(!runs(other));
  end(running);
  of.queues.touch(alone_queue(queue_of(card_4)));
  pump();
  BOOST_TEST(runs_alone(r));
  BOOST_TEST(!runs(other));
}

BOOST_AUTO_TEST_CASE(device_continues_if_its_suspect_is_gone) {
  auto& w = serving(2);
  auto& elsewhere = serving(3);
  draws_at(w);
  draws_at(elsewhere);
  auto& r = suspect();
  pump();
  BOOST_TEST_REQUIRE(w.trial.draining());
  cancel(r);
  auto& other = waits_to_draw();
  pump();
  BOOST_TEST(!w.trial.draining());
  BOOST_TEST(offers(w, queue_of(card_4)));
  BOOST_TEST(runs(other));
}

BOOST_AUTO_TEST_CASE(device_drains_for_its_own_suspects_only) {
  auto& w = lighter(2);
  w.trial.drain();
  of.queues.touch(alone_queue(queue_of(card_4)));
  pump();
  BOOST_TEST(w.trial.draining());
  of.queues.touch(alone_queue(queue_of(test::card_2)));
  pump();
  BOOST_TEST(!w.trial.draining());
}

BOOST_AUTO_TEST_CASE(second_suspect_waits_for_the_first) {
  serving(2);
  auto& idle = serving(3);
  auto& first = suspect();
  pump();
  BOOST_TEST_REQUIRE(runs_alone(first));
  auto& second = suspect();
  pump();
  BOOST_TEST(!runs(second));
  BOOST_TEST(!idle.trial.draining());
}

BOOST_AUTO_TEST_CASE(trial_waits_for_rows_that_a_death_delayed) {
  auto& w = serving(2);
  draws_at(w);
  auto& r = suspect();
  pump();
  BOOST_TEST_REQUIRE(w.trial.draining());
  auto& delayed = waits_to_draw();
  delay(delayed);
  of.queues.touch(alone_queue(queue_of(card_4)));
  pump();
  BOOST_TEST(!w.trial.draining());
  BOOST_TEST(!runs(r));
  BOOST_TEST(runs(delayed));
}

BOOST_AUTO_TEST_CASE(suspect_is_tried_beside_a_device_that_delays) {
  auto& busy = serving(2);
  auto& w = serving(3);
  place_in(queue_of(busy.id()));
  busy.trial.drain();
  delay(waits_to_draw());
  policy->placing = {};
  auto& r = suspect();
  pump();
  BOOST_TEST(!busy.trial.draining());
  BOOST_TEST(runs_alone(r));
  BOOST_TEST(w.trial.exclusive());
}

BOOST_AUTO_TEST_CASE(trial_begins_when_its_client_has_recorded_it) {
  auto& w = serving(2);
  auto& r = suspect(true);
  pump();
  pump();
  BOOST_TEST(!runs(r));
  BOOST_TEST(!w.trial.draining());
  BOOST_TEST_REQUIRE(notes().size() == 1u);
  BOOST_TEST((notes()[0].id == id_of(r)));
  BOOST_TEST(notes()[0].waits);
  BOOST_TEST(notes()[0].how.trials == 1u);
  BOOST_TEST((notes()[0].how.phase == core::phase::denoising));
  BOOST_REQUIRE(of.suspicions.recorded(id_of(r)));
  of.queues.touch(alone_queue(queue_of(card_4)));
  pump();
  BOOST_TEST(runs_alone(r));
  // The next trial needs a record of its own.
  BOOST_TEST((of.suspicions.ask_for_trial(id_of(r))
              == actors::suspicions::permission::wanted));
}

BOOST_AUTO_TEST_CASE(suspect_without_a_host_is_reported) {
  lighter(2);
  suspect();
  pump();
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST((reports()[0].unhosted == std::vector{card_4}));
}

BOOST_AUTO_TEST_CASE(suspect_that_no_device_can_load_ends) {
  auto& w = lighter(2);
  suspect();
  fail_to_load(w, card_4);
  pump();
  BOOST_TEST(answers().size() == 1u);
}

BOOST_AUTO_TEST_CASE(suspect_without_slots_keeps_its_device) {
  auto& w = serving(2);
  auto& r = suspect();
  auto& other = accept();
  route(other);
  leave_free(other, held::source, images_for(r) - 1);
  sut.pump(now);
  BOOST_TEST(!runs(r));
  BOOST_TEST(w.trial.draining());
  BOOST_TEST(counts().slot_waits == 1u);
  of.slots.drop_source(other.held);
  sut.pump(now);
  BOOST_TEST(runs_alone(r));
}

BOOST_AUTO_TEST_CASE(row_under_way_goes_before_a_suspect_without_slots) {
  auto& w = serving(2);
  auto& between = accept();
  route(between, two_legs);
  draw(between);
  between.course.begin_leg(1);
  prepare(between);
  auto& r = suspect(false, two_legs);
  BOOST_TEST_REQUIRE(images_for(between) < images_for(r));
  auto& other = accept();
  route(other);
  leave_free(other, held::source, images_for(between));
  sut.pump(now);
  BOOST_TEST_REQUIRE(w.trial.draining());
  wait(between);
  sut.pump(now);
  BOOST_TEST(runs(between));
  BOOST_TEST(!runs(r));
  BOOST_TEST(counts().slot_waits == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
