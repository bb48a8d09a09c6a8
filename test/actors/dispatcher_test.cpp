// SPDX-License-Identifier: Apache-2.0

// Rows that go from queues to workers. dispatcher_batches_test has variants and
// batches, dispatcher_slots_test has rows without slots, dispatcher_trials_test
// has rows that run alone.

#include "actors/layers_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::role;
using actors::row_state;
using actors::run_stage;
using core::ec;
using planning::held;
using planning::queue_of;
using test::card_4;
using test::layers_rig;

using requests = std::vector<core::request_id>;

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};

struct rig : layers_rig {
  rig() : rig(options{}) {}

  explicit rig(const options& o) : layers_rig(o) {}

  void pump() {
    sut.pump(now);
    BOOST_TEST(check() == "");
  }

  // Returns the requests whose rows were sent to devices.
  requests sent() {
    requests all;
    for (const auto& x : take_sent<denoise>())
      all.push_back(x.ticket.id);
    return all;
  }

  bool runs(const actors::row& r) const {
    return r.state() == row_state::running && !queue(r).has_value();
  }

  // A worker of a device with these seats, some of which a tenant takes.
  actors::worker& crowded(uint32_t process, uint32_t seats, uint32_t taken,
                          core::tenant_id whose) {
    auto& w =
      device(process, [&](actors::worker_ready& x) { x.seats = seats; });
    for (uint32_t i = 0; i < taken; ++i)
      draws_at(w, whose);
    out.offer(w);
    return w;
  }

  actors::dispatcher& sut = dispatcher;
};

struct many_slots_rig : rig {
  many_slots_rig() : rig(with()) {}

  static options with() {
    options o;
    o.slots = {64, 64, 0};
    return o;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(dispatcher_test, rig)

// -- orders -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_goes_to_a_pool_with_a_free_seat) {
  auto& w = serving_pool(role::preprocess);
  auto& r = accept(ann);
  route(r);
  lifecycle.next_stage(id_of(r), r, stage("prepare"), now);
  now += 1s;
  pump();
  const auto orders = take_sent<run_stage>();
  BOOST_TEST_REQUIRE(orders.size() == 1u);
  const core::ticket who{id_of(r), r.attempt()};
  BOOST_TEST((orders[0].ticket == who));
  BOOST_TEST(runs(r));
  BOOST_TEST((w.seat.orders() == std::vector{who}));
  const auto& x = of.orders.at(who);
  BOOST_TEST((x.worker == w.id()));
  BOOST_TEST((x.tenant == ann));
  BOOST_TEST(x.stage == stage("prepare"));
  BOOST_TEST((x.phase == core::phase::preparing));
  BOOST_TEST((x.since == now));
  BOOST_TEST(!x.side);
  BOOST_TEST(!x.alone);
  BOOST_TEST(of.requests.has_ahead(ann));
  BOOST_TEST(counts().dispatched == 1u);
  BOOST_TEST(offers(w, actors::prepare_queue));
  actors::answer a;
  r.account.close(a, r.request->arrived, now);
  BOOST_TEST((a.took.queue == 1s));
}

BOOST_AUTO_TEST_CASE(row_goes_to_a_device_with_the_steps_that_are_left) {
  auto& w = serving(2);
  auto& r = waits_to_draw(ann);
  pump();
  BOOST_TEST((sent() == requests{id_of(r)}));
  BOOST_TEST(runs(r));
  const auto& x = of.orders.at({id_of(r), r.attempt()});
  BOOST_TEST((x.phase == core::phase::denoising));
  BOOST_TEST((x.variant == card_4));
  BOOST_TEST(x.steps == 4u);
  BOOST_TEST(x.steps_left == 4u);
  BOOST_TEST(x.steps_before == 0u);
  BOOST_TEST(x.masked == 1.0);
  BOOST_TEST(w.seat.steps_left() == 4u);
  // It is no longer ahead of the devices.
  BOOST_TEST(!of.requests.has_ahead(ann));
  BOOST_TEST(counts().waiting.at(card_4.value) == 0u);
}

BOOST_AUTO_TEST_CASE(resumed_row_goes_with_the_steps_that_it_has) {
  serving(2);
  auto& r = waits_to_draw();
  of.slots.begin_with(r.held, 3);
  pump();
  const auto& x = of.orders.at({id_of(r), r.attempt()});
  BOOST_TEST(x.steps_before == 3u);
  BOOST_TEST(x.steps_done == 3u);
  BOOST_TEST(x.steps == 4u);
  BOOST_TEST(x.steps_left == 1u);
}

BOOST_AUTO_TEST_CASE(edit_goes_with_its_masked_share) {
  follow([](planning::plan& x) {
    x.routes[0].legs[0].from = planning::origin::template_image;
  });
  serving(2);
  auto& r = accept(&parts_rig::bring_image);
  planning::facts found;
  found.mask.emplace().ratio = 0.25;
  r.course.learn(std::move(found));
  r.course.take_mask();
  route(r);
  prepare(r);
  wait(r);
  pump();
  BOOST_TEST(of.orders.at({id_of(r), r.attempt()}).masked == 0.25);
}

BOOST_AUTO_TEST_CASE(order_may_be_silent_for_as_long_as_its_work_takes) {
  auto& w = serving(2);
  out.running_time(now);
  waits_to_draw();
  pump();
  const auto silence = of.matching.silence_of(waits_to_draw(), w);
  // Eight times that, and five seconds.
  const auto allowed = 8 * silence + 5s;
  pass(allowed);
  BOOST_TEST(!w.signs.unexplained(out.running_time(now)).has_value());
  pass(1ns);
  BOOST_TEST(w.signs.unexplained(out.running_time(now)).has_value());
}

BOOST_AUTO_TEST_CASE(row_that_runs_expires_at_its_deadline) {
  measure(card_4, serving(2));
  const auto deadline = now + 1s;
  auto& r = waits_to_draw([&](core::request& x) { x.deadline = deadline; });
  BOOST_TEST_REQUIRE((r.due() < deadline));
  pump();
  BOOST_TEST((r.due() == deadline));
}

BOOST_AUTO_TEST_CASE(row_with_an_image_keeps_the_time_of_its_answer) {
  follow([](planning::plan& x) {
    x.routes[0].legs.push_back(x.routes[0].legs.front());
  });
  serving(2);
  auto& r = accept([&](core::request& x) { x.deadline = now + 9s; });
  route(r);
  draw(r);
  r.course.begin_leg(1);
  prepare(r);
  wait(r);
  of.requests.set_due(r, now + 8s);
  pump();
  BOOST_TEST(runs(r));
  BOOST_TEST((r.due() == now + 8s));
}

// -- seats --------------------------------------------------------------------

BOOST_FIXTURE_TEST_CASE(rows_go_until_all_seats_are_taken, many_slots_rig) {
  auto& w = serving(2);
  std::vector<actors::row*> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(&waits_to_draw());
  pump();
  BOOST_TEST(w.seat.free() == 0u);
  BOOST_TEST(runs(*all[3]));
  BOOST_TEST((queue(*all[4]) == queue_of(card_4)));
  BOOST_TEST(!offers(w, queue_of(card_4)));
}

BOOST_AUTO_TEST_CASE(rows_spread_over_the_workers_of_a_queue) {
  auto& first = serving(2);
  auto& second = serving(3);
  waits_to_draw();
  waits_to_draw();
  pump();
  BOOST_TEST(first.seat.taken() == 1u);
  BOOST_TEST(second.seat.taken() == 1u);
}

BOOST_AUTO_TEST_CASE(tenants_take_turns_by_the_work_that_they_received) {
  serving(2, [](actors::worker_ready& x) { x.seats = 2; });
  auto& first = waits_to_draw(ann);
  waits_to_draw(ann);
  auto& last = waits_to_draw(ben);
  pump();
  BOOST_TEST((sent() == requests{id_of(first), id_of(last)}));
}

BOOST_FIXTURE_TEST_CASE(worker_whose_seats_are_left_for_others_is_passed,
                        many_slots_rig) {
  auto& closed = crowded(2, 8, 7, ann);
  auto& open = crowded(3, 32, 8, ann);
  auto& r = waits_to_draw(ann);
  pump();
  BOOST_TEST((of.orders.at({id_of(r), r.attempt()}).worker == open.id()));
  auto& other = waits_to_draw(ben);
  pump();
  BOOST_TEST(
    (of.orders.at({id_of(other), other.attempt()}).worker == closed.id()));
}

BOOST_FIXTURE_TEST_CASE(row_waits_for_a_seat_that_is_not_left_for_others,
                        many_slots_rig) {
  auto& w = crowded(2, 8, 7, ann);
  auto& r = waits_to_draw(ann);
  pump();
  BOOST_TEST((queue(r) == queue_of(card_4)));
  BOOST_TEST(counts().slot_waits == 0u);
  // Another row of the worker frees a seat, and the queue is looked at again.
  waiting.leave(id_of(r), r, now);
  wait(r);
  looked_at();
  const auto ended = w.seat.orders().front();
  lose(ended);
  auto& again = of.requests.at(ended.id);
  waiting.leave(ended.id, again, now);
  endings.turn_away(ended.id, again, core::fail(ec::internal, "over"), {}, now);
  looked_at();
  pump();
  BOOST_TEST(runs(r));
}

// -- rows that are too late ---------------------------------------------------

BOOST_AUTO_TEST_CASE(row_that_cannot_be_in_time_ends_and_the_next_one_goes) {
  serving(2);
  const auto late =
    id_of(waits_to_draw([&](core::request& x) { x.deadline = now + 10ms; }));
  auto& r = waits_to_draw();
  pump();
  BOOST_TEST((only_answer().request->id == late));
  BOOST_TEST((only_answer().failure.code == ec::deadline_missed));
  BOOST_TEST((sent() == requests{id_of(r)}));
}

BOOST_AUTO_TEST_CASE(queue_of_late_rows_becomes_empty) {
  auto& w = serving(2);
  for (int i = 0; i < 6; ++i)
    waits_to_draw([&](core::request& x) { x.deadline = now + 10ms; });
  pump();
  BOOST_TEST(answers().size() == 6u);
  BOOST_TEST(w.seat.taken() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
