// SPDX-License-Identifier: Apache-2.0

// Rows that run alone in the pools of a process.

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

BOOST_FIXTURE_TEST_SUITE(dispatcher_pool_trials_test, rig)

BOOST_AUTO_TEST_CASE(suspect_has_the_pools_of_a_process_to_itself) {
  auto& preparing = serving_pool(role::preprocess, 1);
  auto& finishing = serving_pool(role::postprocess, 1);
  auto& elsewhere = serving_pool(role::postprocess, 5);
  auto& w = serving(2);
  auto& r = pool_suspect();
  pump();
  BOOST_TEST(runs_alone(r));
  BOOST_TEST(preparing.seat.taken() == 1u);
  BOOST_TEST(preparing.trial.exclusive());
  BOOST_TEST(finishing.trial.exclusive());
  BOOST_TEST(!offers(finishing, actors::finish_queue));
  BOOST_TEST(!elsewhere.trial.exclusive());
  BOOST_TEST(offers(elsewhere, actors::finish_queue));
  BOOST_TEST(!w.trial.exclusive());
}

BOOST_AUTO_TEST_CASE(busy_pools_take_no_row_until_the_suspect_ran) {
  auto& preparing = serving_pool(role::preprocess);
  auto& finishing = serving_pool(role::postprocess);
  const auto running = run(waits_to_finish(), finishing);
  auto& r = pool_suspect();
  pump();
  BOOST_TEST(!runs(r));
  BOOST_TEST(preparing.trial.draining());
  BOOST_TEST(finishing.trial.draining());
  auto& other = waits_to_finish();
  pump();
  BOOST_TEST(!runs(other));
  end(running);
  of.queues.touch(pool_suspects_queue);
  pump();
  BOOST_TEST(runs_alone(r));
}

BOOST_AUTO_TEST_CASE(pools_continue_if_their_suspect_is_gone) {
  auto& preparing = serving_pool(role::preprocess);
  auto& finishing = serving_pool(role::postprocess);
  run(waits_to_finish(), finishing);
  auto& w = serving(2);
  auto& r = pool_suspect();
  pump();
  BOOST_TEST_REQUIRE(preparing.trial.draining());
  cancel(r);
  w.trial.drain();
  pump();
  BOOST_TEST(!preparing.trial.draining());
  BOOST_TEST(!finishing.trial.draining());
  BOOST_TEST(offers(preparing, actors::prepare_queue));
  // The device does not drain for a suspect of pools.
  BOOST_TEST(w.trial.draining());
}

BOOST_AUTO_TEST_CASE(pools_continue_while_no_worker_can_try_the_suspect) {
  auto& finishing = serving_pool(role::postprocess);
  finishing.trial.drain();
  pool_suspect();
  pump();
  BOOST_TEST(!finishing.trial.draining());
  BOOST_TEST(offers(finishing, actors::finish_queue));
}

BOOST_AUTO_TEST_CASE(second_suspect_of_a_pool_waits_for_the_first) {
  serving_pool(role::preprocess, 1);
  auto& idle = serving_pool(role::preprocess, 5);
  auto& first = pool_suspect();
  pump();
  BOOST_TEST_REQUIRE(runs_alone(first));
  auto& second = pool_suspect();
  pump();
  BOOST_TEST(!runs(second));
  BOOST_TEST(!idle.trial.draining());
}

BOOST_AUTO_TEST_CASE(trial_of_a_pool_waits_for_rows_that_a_death_delayed) {
  auto& preparing = serving_pool(role::preprocess);
  auto& finishing = serving_pool(role::postprocess);
  finishing.trial.drain();
  auto& r = pool_suspect();
  delay(waits_to_finish());
  // The delayed row has no worker that takes it.
  of.queues.withdraw(finishing.id());
  sut.pump(now);
  BOOST_TEST(!runs(r));
  BOOST_TEST(!preparing.trial.draining());
  BOOST_TEST(!finishing.trial.draining());
}

BOOST_AUTO_TEST_CASE(trial_that_frees_slots_waits_for_no_row_to_prepare) {
  serving_pool(role::postprocess);
  delay(waits_to_prepare());
  auto& preparing = pool_suspect();
  auto& finishing = pool_suspect("finish");
  pump();
  BOOST_TEST(runs_alone(finishing));
  BOOST_TEST(!runs(preparing));
}

BOOST_AUTO_TEST_CASE(trial_of_a_row_to_prepare_waits_for_delayed_ones) {
  auto& w = serving_pool(role::preprocess);
  of.queues.withdraw(w.id());
  auto& r = pool_suspect();
  delay(waits_to_prepare());
  pump();
  BOOST_TEST(!runs(r));
}

BOOST_AUTO_TEST_CASE(pools_continue_while_the_suspect_lacks_slots) {
  auto& preparing = serving_pool(role::preprocess);
  preparing.trial.drain();
  auto& r = pool_suspect();
  auto& other = waits_to_draw();
  leave_free(other, held::state, 1);
  enter(other, "denoise");
  sut.pump(now);
  BOOST_TEST(!runs(r));
  BOOST_TEST(!preparing.trial.draining());
  of.slots.drop_start(other.held);
  sut.pump(now);
  BOOST_TEST(runs_alone(r));
}

BOOST_AUTO_TEST_CASE(pools_continue_until_the_trial_is_recorded) {
  auto& preparing = serving_pool(role::preprocess);
  preparing.trial.drain();
  auto& r = pool_suspect("prepare", true);
  pump();
  BOOST_TEST(!runs(r));
  BOOST_TEST(!preparing.trial.draining());
  BOOST_TEST_REQUIRE(notes().size() == 1u);
  BOOST_TEST(notes()[0].waits);
  BOOST_REQUIRE(of.suspicions.recorded(id_of(r)));
  of.queues.touch(pool_suspects_queue);
  pump();
  BOOST_TEST(runs_alone(r));
}

BOOST_AUTO_TEST_CASE(pools_continue_if_their_process_is_granted_no_slots) {
  auto& preparing = serving_pool(role::preprocess);
  auto& r = pool_suspect();
  of.slots.suspect(preparing.address.process);
  pump();
  BOOST_TEST(!runs(r));
  BOOST_TEST(!preparing.trial.draining());
  BOOST_TEST(counts().slot_waits == 1u);
  of.queues.feed();
  BOOST_TEST((looked_at() == std::vector{pool_suspects_queue}));
}

BOOST_AUTO_TEST_SUITE_END()
