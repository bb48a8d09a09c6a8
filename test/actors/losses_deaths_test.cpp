// SPDX-License-Identifier: Apache-2.0

// Processes that may be dead, and processes that are.

#include "actors/losses_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::alone_queue;
using actors::death;
using actors::role;
using actors::row_state;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_4;

using requests = std::vector<core::request_id>;

constexpr core::tenant_id ann{1};

struct rig : test::losses_rig {
  using losses_rig::losses_rig;

  void die(uint32_t process, death cause = death::crash,
           bool confirmed = true) {
    sut.lost(life(process), confirmed, cause, now);
  }

  requests in(core::queue_id queue) const {
    return of.queues.of(queue);
  }

  actors::losses& sut = losses;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(losses_deaths_test, rig)

// -- processes that may be dead -----------------------------------------------

BOOST_AUTO_TEST_CASE(suspected_process_gets_no_more_rows) {
  auto& w = serving(2);
  auto& other = serving(3);
  const auto who = draws_at(w);
  out.offer(w);
  sut.suspected(life(2), now);
  BOOST_TEST(w.suspected());
  BOOST_TEST(!offers(w, queue_of(card_4)));
  BOOST_TEST(!other.suspected());
  // Its order may still be answered.
  BOOST_TEST((row_of(who).state() == row_state::running));
  BOOST_TEST(
    of.slots.grant({core::request_id{99}, 1}, life(2), {held::state}, {})
    == nullptr);
  BOOST_TEST(of.slots.keeper().census(slot_kind::state).quarantined == 1u);
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST(reports()[0].workers.size() == 1u);
  BOOST_TEST(of.hosting.take_change());
}

BOOST_AUTO_TEST_CASE(worker_of_a_suspected_life_cannot_join) {
  sut.suspected(life(2), now);
  actors::worker_ready x;
  x.worker = {life(2), role::denoise_step, 0};
  BOOST_TEST(of.workers.announce(x, *profile, now) == nullptr);
}

BOOST_AUTO_TEST_CASE(rows_of_a_suspected_workers_own_queue_are_placed_anew) {
  auto& w = serving(2);
  place_in(queue_of(w.id()));
  auto& r = waits_to_draw();
  policy->placing = {};
  sut.suspected(life(2), now);
  BOOST_TEST((queue(r) == queue_of(card_4)));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(suspected_pools_change_nothing_for_the_planner) {
  serving_pool(role::preprocess);
  sut.suspected(life(1), now);
  BOOST_TEST(reports().empty());
}

BOOST_AUTO_TEST_CASE(process_is_suspected_once) {
  serving(2);
  sut.suspected(life(2), now);
  of.hosting.take_change();
  sut.suspected(life(2), now);
  BOOST_TEST(reports().size() == 1u);
  BOOST_TEST(!of.hosting.take_change());
}

BOOST_AUTO_TEST_CASE(process_is_not_ready_while_it_is_suspected) {
  of.records.ready(life(2).process, now);
  now += 3s;
  sut.suspected(life(2), now);
  now += 3s;
  const auto times = of.records.recovery(now).ready;
  BOOST_TEST((times.at(life(2).process) == 3s));
}

// -- processes that are dead --------------------------------------------------

BOOST_AUTO_TEST_CASE(workers_of_a_dead_process_are_forgotten) {
  auto& preparing = serving_pool(role::preprocess);
  serving_pool(role::postprocess);
  auto& w = serving(2);
  const auto id = preparing.id();
  die(1);
  BOOST_TEST(of.workers.find(id) == nullptr);
  BOOST_TEST(of.workers.all().size() == 1u);
  BOOST_TEST(of.queues.offered(actors::prepare_queue).empty());
  BOOST_TEST(of.queues.offered(actors::finish_queue).empty());
  BOOST_TEST(offers(w, queue_of(card_4)));
  BOOST_TEST(counts().workers_lost == 2u);
  // The planner knows no pools.
  BOOST_TEST(reports().empty());
  die(2);
  BOOST_TEST(counts().workers_lost == 3u);
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST(reports()[0].workers.empty());
  BOOST_TEST(of.hosting.take_change());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(worker_of_a_dead_life_cannot_join) {
  die(2);
  actors::worker_ready x;
  x.worker = {life(2), role::denoise_step, 0};
  BOOST_TEST(of.workers.announce(x, *profile, now) == nullptr);
  x.worker.process.life = core::incarnation{2};
  BOOST_TEST(of.workers.announce(x, *profile, now) != nullptr);
}

BOOST_AUTO_TEST_CASE(slots_of_an_unconfirmed_death_stay_quarantined) {
  const auto who = draws_at(device(2));
  die(2, death::watchdog, false);
  BOOST_TEST((queue(row_of(who)) == queue_of(card_4)));
  BOOST_TEST(of.slots.keeper().census(slot_kind::state).quarantined == 1u);
  BOOST_TEST(of.slots.keeper().census(slot_kind::image).quarantined == 1u);
  die(2, death::watchdog, true);
  BOOST_TEST(of.slots.keeper().census(slot_kind::state).quarantined == 0u);
  BOOST_TEST(of.slots.in_use() == 1u);
  BOOST_TEST(counts().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(rows_of_a_dead_process_wait_again_in_their_order) {
  auto& w = device(2);
  auto& elsewhere = device(3);
  const auto first = draws_at(w);
  const auto second = draws_at(w);
  const auto other = draws_at(elsewhere);
  const auto& later = waits_to_draw();
  die(2, death::outside);
  BOOST_TEST(
    (in(queue_of(card_4)) == requests{first.id, second.id, id_of(later)}));
  BOOST_TEST((row_of(other).state() == row_state::running));
  BOOST_TEST(of.orders.size() == 1u);
  BOOST_TEST(blamed().empty());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_is_prepared_is_not_counted_after_a_death) {
  auto& w = pool(role::preprocess);
  prepares_at(w, ann);
  die(1);
  BOOST_TEST(!of.requests.has_ahead(ann));
}

BOOST_AUTO_TEST_CASE(question_of_a_dead_process_is_over) {
  pool(role::classifier);
  auto& r = accept();
  lifecycle.begin(id_of(r), r, now);
  die(1);
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(left_out("guess") == 1u);
  // What it asked was not ahead of the devices.
  BOOST_TEST(of.requests.check() == "");
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(requests_that_a_process_worked_on_are_suspects) {
  auto& w = device(2);
  const auto first = steps_at(w);
  const auto second = steps_at(w);
  const auto waited = draws_at(w);
  die(2);
  BOOST_TEST(
    (in(alone_queue(queue_of(card_4))) == requests{first.id, second.id}));
  BOOST_TEST((in(queue_of(card_4)) == requests{waited.id}));
  BOOST_TEST((blamed() == std::vector{life(2)}));
  // The death delayed the other one.
  BOOST_TEST(of.suspicions.is_held_up(waited.id));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(
  death_from_outside_makes_no_suspects_and_counts_as_no_delay) {
  auto& w = device(2);
  const auto who = steps_at(w);
  auto& waits = waits_to_draw();
  die(2, death::outside);
  BOOST_TEST((in(queue_of(card_4)) == requests{who.id, id_of(waits)}));
  BOOST_TEST(blamed().empty());
  BOOST_TEST(!of.suspicions.is_held_up(who.id));
  BOOST_TEST(!of.suspicions.is_held_up(id_of(waits)));
}

BOOST_AUTO_TEST_CASE(row_of_a_dead_process_that_ended_is_not_delayed) {
  auto& w = device(2);
  steps_at(w);
  const auto who = draws_at(w);
  cancel(row_of(who));
  die(2);
  BOOST_TEST(check() == "");
  BOOST_TEST(answers().size() == 1u);
}

BOOST_AUTO_TEST_CASE(rows_that_wait_for_the_dead_alone_are_delayed_once) {
  auto& w = device(2);
  lighter(3);
  steps_at(w);
  auto& only_there = waits_to_draw();
  auto& elsewhere = waits_to_draw([](core::request&) {}, core::route_id{1});
  auto& before = waits_to_draw();
  of.suspicions.note_delay(id_of(before));
  die(2);
  BOOST_TEST(of.queues.marks_of(id_of(only_there)).held_up);
  BOOST_TEST(!of.queues.marks_of(id_of(elsewhere)).held_up);
  BOOST_TEST(!of.suspicions.is_held_up(id_of(elsewhere)));
  // It was counted when it was delayed first, if it waited then.
  BOOST_TEST(!of.queues.marks_of(id_of(before)).held_up);
}

BOOST_AUTO_TEST_CASE(rows_of_a_dead_workers_own_queue_are_placed_anew) {
  auto& w = serving(2);
  place_in(queue_of(w.id()));
  auto& r = waits_to_draw();
  policy->placing = {};
  die(2);
  BOOST_TEST((queue(r) == queue_of(card_4)));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(suspects_are_looked_at_after_the_death_of_a_device) {
  serving(2);
  auto& r = waits_to_draw();
  waiting.leave(id_of(r), r, now);
  accuse(r);
  wait(r);
  looked_at();
  die(2);
  const auto seen = looked_at();
  BOOST_TEST(
    (std::count(seen.begin(), seen.end(), alone_queue(queue_of(card_4))) == 1));
}

BOOST_AUTO_TEST_CASE(device_that_dies_while_it_loads_failed_to_load) {
  auto& w = device(2, [](actors::worker_ready& x) {
    x.variants = {"card@2"};
    x.loads_beside = true;
  });
  planning::assignment x;
  x.hosting = {card_4};
  of.hosting.apply(w, x, {}, now);
  const auto who = steps_at(w);
  die(2);
  BOOST_TEST(of.hosting.retried_at(card_4).has_value());
  BOOST_TEST(!of.suspicions.is_alone(who.id));
  BOOST_TEST(blamed().empty());
}

BOOST_AUTO_TEST_CASE(pool_that_dies_failed_to_load_nothing) {
  auto& w = pool(role::preprocess);
  prepares_at(w);
  die(1);
  BOOST_TEST(!of.hosting.waits());
  BOOST_TEST((blamed() == std::vector{life(1)}));
}

BOOST_AUTO_TEST_CASE(pace_of_a_dead_device_is_forgotten) {
  auto& w = device(2);
  auto& other = device(3);
  const auto run_at = [&](const actors::worker& at, core::timespan took) {
    for (int i = 0; i < 5; ++i) {
      actors::steps_run x{at.view(), {card_4}, card_4, {32, 32}};
      x.steps = 1;
      x.took = took;
      of.forecast.ran(x, now);
    }
  };
  run_at(w, 40ms);
  run_at(other, 10ms);
  const auto slow = of.forecast.slow_news(now);
  BOOST_TEST_REQUIRE(slow.has_value());
  BOOST_TEST((*slow == std::vector{w.id()}));
  die(2);
  now += 2s;
  const auto after = of.forecast.slow_news(now);
  BOOST_TEST_REQUIRE(after.has_value());
  BOOST_TEST(after->empty());
}

// -- records ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(death_is_drawn_unless_the_engine_stops) {
  const auto drawn = [](bool stops) {
    const auto into = std::make_shared<test::recording_timeline>();
    rig x{20, into};
    x.steps_at(x.device(2));
    if (stops)
      x.of.requests.stop();
    x.die(2);
    return into->count("died");
  };
  BOOST_TEST(drawn(false) == 1u);
  BOOST_TEST(drawn(true) == 0u);
}

BOOST_AUTO_TEST_CASE(time_from_a_death_to_the_next_step_is_recorded) {
  const auto who = steps_at(device(2));
  of.records.ready(life(2).process, now);
  die(2);
  now += 3s;
  of.records.stepped_on(core::request_id{99}, now);
  BOOST_TEST((of.records.recovery(now).until_step.sum == 0s));
  of.records.stepped_on(who.id, now);
  BOOST_TEST((of.records.recovery(now).until_step.sum == 3s));
  of.records.encoded(now);
  BOOST_TEST((of.records.recovery(now).until_image.sum == 3s));
}

BOOST_AUTO_TEST_CASE(no_image_is_awaited_after_a_death_without_requests) {
  device(2);
  of.records.ready(life(2).process, now);
  die(2);
  now += 3s;
  of.records.encoded(now);
  BOOST_TEST((of.records.recovery(now).until_image.sum == 0s));
}

BOOST_AUTO_TEST_CASE(row_that_is_prepared_awaits_no_step_after_a_death) {
  const auto who = prepares_at(pool(role::preprocess));
  of.records.ready(life(1).process, now);
  die(1);
  now += 3s;
  of.records.stepped_on(who.id, now);
  BOOST_TEST((of.records.recovery(now).until_step.sum == 0s));
}

BOOST_AUTO_TEST_SUITE_END()
