// SPDX-License-Identifier: Apache-2.0
#include "actors/matching_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::death;
using actors::role;
using planning::held;
using test::four_steps;
using test::matching_rig;
using test::other_model;

using tickets = std::vector<core::ticket>;

struct rig : matching_rig {
  const actors::matching& sut = of.matching;

  // A suspect that waits in the queue of its stage.
  actors::row& suspect(uint32_t strikes = 0) {
    auto& r = accept();
    route(r);
    prepare(r);
    accuse(r);
    for (uint32_t i = 0; i < strikes; ++i)
      accuse(r, true);
    wait(r);
    return r;
  }

  template <class F>
  actors::row& pool_suspect(std::string_view stage, F adjust) {
    auto& r = accept(adjust);
    route(r);
    if (stage == "finish") {
      r.course.end_leg(core::ec::none);
      r.course.finish();
    }
    enter(r, stage);
    accuse(r);
    wait(r);
    return r;
  }

  actors::row& pool_suspect(std::string_view stage) {
    return pool_suspect(stage, [](core::request&) {});
  }

  // A death delays a row that waits.
  void delay(const actors::row& r) {
    of.suspicions.note_delay(id_of(r));
    of.queues.hold_up(id_of(r));
  }

  auto trial_at_device() const {
    return sut.device_for_trial(queue(four_steps));
  }

  tickets worked(const std::vector<core::worker_id>& gone,
                 death cause = death::crash) const {
    return sut.worked_on(gone, cause);
  }

  // A row that its worker reported as one of its batch.
  core::ticket steps_at(actors::worker& w) {
    const auto who = draws_at(w);
    of.orders.report(who, true);
    return who;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(matching_trials_test, rig)

// -- rows that run alone ------------------------------------------------------

BOOST_AUTO_TEST_CASE(suspect_that_was_tried_least_is_next) {
  const auto alone = actors::alone_queue(queue(four_steps));
  BOOST_TEST((sut.next_suspect(alone, now) == core::request_id{}));
  suspect(1);
  const auto& fresh = suspect();
  suspect();
  BOOST_TEST((sut.next_suspect(alone, now) == id_of(fresh)));
}

BOOST_AUTO_TEST_CASE(suspect_that_frees_slots_is_tried_before_one_that_waits) {
  pool_suspect("prepare");
  const auto& finishing = pool_suspect("finish");
  accuse(finishing, true);
  BOOST_TEST(
    (sut.next_suspect(actors::pool_suspects_queue, now) == id_of(finishing)));
}

BOOST_AUTO_TEST_CASE(suspect_with_slots_is_tried_before_one_without) {
  const auto& edit = pool_suspect("prepare", &parts_rig::bring_image);
  const auto& noise = pool_suspect("prepare");
  const auto next = [&] {
    return sut.next_suspect(actors::pool_suspects_queue, now);
  };
  BOOST_TEST((next() == id_of(edit)));
  auto& other = accept();
  while (sut.has_room_for(edit))
    write(other, {held::source});
  BOOST_TEST_REQUIRE(sut.has_room_for(noise));
  BOOST_TEST((next() == id_of(noise)));
  // Finishing leaves no slot to others.
  const auto& finishing = pool_suspect("finish");
  while (of.slots.free(ipc::slot_kind::image) > 1)
    write(other, {held::source});
  BOOST_TEST(!sut.has_room_for(noise));
  BOOST_TEST(sut.has_room_for(finishing));
  BOOST_TEST((next() == id_of(finishing)));
  write(other, {held::source});
  BOOST_TEST(!sut.has_room_for(finishing));
}

BOOST_AUTO_TEST_CASE(suspect_is_not_prepared_ahead_of_delayed_rows) {
  follow([](planning::plan& x) {
    auto& legs = x.routes[0].legs;
    legs.push_back(legs.front());
  });
  const auto& r = pool_suspect("prepare");
  auto& ahead = waits_to_draw();
  for (int i = 0; i < 3; ++i)
    waits_to_draw();
  BOOST_TEST(sut.has_room_for(r));
  delay(waits_to_prepare());
  BOOST_TEST(!sut.has_room_for(r));
  BOOST_TEST(sut.has_room_for(pool_suspect("finish")));
  auto& later = accept();
  route(later);
  later.course.begin_leg(1);
  enter(later, "prepare");
  BOOST_TEST(sut.has_room_for(later));
  waiting.leave(id_of(ahead), ahead, now);
  BOOST_TEST(sut.has_room_for(r));
}

BOOST_AUTO_TEST_CASE(trial_is_at_the_least_loaded_device_that_drains) {
  BOOST_TEST(!trial_at_device().at.has_value());
  auto& busy = device_of(2, "quick");
  draws_at(busy);
  BOOST_TEST((trial_at_device().at == busy.id()));
  auto& idle = device_of(3, "quick");
  BOOST_TEST((trial_at_device().at == idle.id()));
  busy.trial.drain();
  BOOST_TEST((trial_at_device().at == busy.id()));
  auto& drained = device_of(4, "quick");
  drained.trial.drain();
  BOOST_TEST((trial_at_device().at == drained.id()));
  drained.trial.begin();
  BOOST_TEST(trial_at_device().busy);
  BOOST_TEST(!trial_at_device().at.has_value());
}

BOOST_AUTO_TEST_CASE(trial_is_at_the_device_that_is_kept_for_it) {
  const auto& first = device_of(2, "quick");
  auto& last = device_of(3, "quick");
  BOOST_TEST((trial_at_device().at == first.id()));
  draws_at(last);
  last.trial.drain();
  BOOST_TEST((trial_at_device().at == last.id()));
}

BOOST_AUTO_TEST_CASE(trial_is_at_a_device_that_takes_such_rows) {
  of.workers.suspect(device_of(2, "quick"));
  device(3, [](actors::worker_ready& x) { x.variants = {"other"}; });
  auto& loads = device_of(4, "quick");
  profile->variants[2].load = 1s;
  draws_at(loads);
  planning::assignment next;
  next.hosting = {other_model, four_steps};
  of.hosting.apply(loads, next, {}, now);
  BOOST_TEST_REQUIRE(!loads.host.takes_rows());
  BOOST_TEST_REQUIRE(loads.host.serves(queue(four_steps)));
  pool(role::preprocess);
  BOOST_TEST(!trial_at_device().at.has_value());
  BOOST_TEST(trial_at_device().delays.empty());
}

BOOST_AUTO_TEST_CASE(trial_delays_no_row_a_second_time) {
  auto& first = device_of(2, "quick");
  auto& second = device(3);
  delay(
    waits_to_draw([](core::request&) {}, core::route_id{other_model.value}));
  auto found = trial_at_device();
  BOOST_TEST((found.at == second.id()));
  BOOST_TEST((found.delays == std::vector{first.id()}));
  delay(waits_to_draw());
  found = trial_at_device();
  BOOST_TEST(!found.at.has_value());
  BOOST_TEST(!found.busy);
  BOOST_TEST((found.delays == std::vector{first.id(), second.id()}));
}

BOOST_AUTO_TEST_CASE(trial_of_a_pool_is_at_its_first_worker_that_drains) {
  auto& r = accept();
  route(r);
  enter(r, "prepare");
  pool(role::postprocess, 1);
  BOOST_TEST(!sut.pool_for_trial(r).at.has_value());
  of.workers.suspect(pool(role::preprocess, 1));
  BOOST_TEST(!sut.pool_for_trial(r).at.has_value());
  const auto& first = pool(role::preprocess, 5);
  auto& second = pool(role::preprocess, 6);
  BOOST_TEST((sut.pool_for_trial(r).at == first.id()));
  second.trial.drain();
  BOOST_TEST((sut.pool_for_trial(r).at == second.id()));
  second.trial.begin();
  BOOST_TEST(sut.pool_for_trial(r).busy);
  BOOST_TEST(!sut.pool_for_trial(r).at.has_value());
}

// -- deaths -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(device_worked_on_the_rows_of_its_batch) {
  auto& w = device_of(2, "quick");
  auto& other = device_of(3, "quick");
  const auto in_batch = steps_at(w);
  draws_at(w);
  const auto later = steps_at(w);
  const auto there = steps_at(other);
  BOOST_TEST((worked({w.id()}) == tickets{in_batch, later}));
  BOOST_TEST((worked({other.id(), w.id()}) == tickets{in_batch, later, there}));
  BOOST_TEST((worked({w.id()}, death::memory) == tickets{in_batch, later}));
  BOOST_TEST((worked({w.id()}, death::watchdog) == tickets{in_batch, later}));
  BOOST_TEST(worked({w.id()}, death::outside).empty());
}

BOOST_AUTO_TEST_CASE(pool_worked_on_its_first_order) {
  auto& w = pool(role::preprocess);
  BOOST_TEST(worked({w.id()}).empty());
  const auto first = run(waits_to_prepare(), w);
  run(waits_to_prepare(), w);
  BOOST_TEST((worked({w.id()}) == tickets{first}));
}

BOOST_AUTO_TEST_CASE(watchdog_blames_silent_workers_alone) {
  auto& silent = device_of(2, "quick");
  auto& heard = device_of(3, "quick");
  const auto at_silent = steps_at(silent);
  const auto at_heard = steps_at(heard);
  heard.signs.lose_orders();
  silent.signs.report();
  const std::vector both{silent.id(), heard.id()};
  BOOST_TEST((worked(both, death::watchdog) == tickets{at_silent}));
  BOOST_TEST((worked(both) == tickets{at_silent, at_heard}));
}

BOOST_AUTO_TEST_CASE(no_row_is_blamed_for_lost_orders) {
  auto& w = device_of(2, "quick");
  const auto who = steps_at(w);
  w.signs.lose_orders();
  BOOST_TEST(worked({w.id()}, death::watchdog).empty());
  BOOST_TEST((worked({w.id()}) == tickets{who}));
}

BOOST_AUTO_TEST_CASE(no_row_is_blamed_for_a_load) {
  auto& w = device(2, [](actors::worker_ready& x) {
    x.variants = {"card@4"};
    x.loads_beside = true;
  });
  const auto who = steps_at(w);
  planning::assignment next;
  next.hosting = {other_model};
  of.hosting.apply(w, next, {}, now);
  BOOST_TEST_REQUIRE(w.host.loading_beside());
  BOOST_TEST(worked({w.id()}).empty());
  BOOST_TEST(worked({w.id()}, death::memory).empty());
  BOOST_TEST((worked({w.id()}, death::watchdog) == tickets{who}));
}

BOOST_AUTO_TEST_SUITE_END()
