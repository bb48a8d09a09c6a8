// SPDX-License-Identifier: Apache-2.0

// Rows from leg to leg, and in time.

#include "actors/layers_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::row_state;
using core::ec;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_2;
using test::card_4;
using test::layers_rig;
using test::parts_rig;

const core::error broken = core::fail(ec::internal, "broken");

// Routes of one leg and of two; the latter begins again from noise.
struct rig : layers_rig {
  static constexpr core::route_id two_legs{2};

  rig() : layers_rig(with()) {}

  static options with() {
    options o;
    o.slots = {8, 8, 4};
    o.adjust = [](planning::plan& x) {
      auto along = x.routes[0];
      along.name = "twice";
      along.late = planning::late_rule::answer_best;
      along.legs.push_back(along.legs.front());
      along.legs[0].check = planning::gate{"judge", 0};
      x.thresholds = {0.5};
      x.routes.push_back(along);
    };
    return o;
  }

  bool waits_to_be_prepared(const actors::row& r) const {
    return r.state() == row_state::waiting && queue(r) == actors::prepare_queue;
  }

  // A row with the image of its first leg, which waits to draw the second one.
  template <class F>
  actors::row& draws_again(F adjust, core::route_id along = two_legs) {
    auto& r = accept(adjust);
    route(r, along);
    draw(r);
    r.course.begin_leg(1);
    prepare(r);
    wait(r);
    return r;
  }

  actors::row& draws_again() {
    return draws_again([](core::request&) {});
  }

  actors::lifecycle& sut = lifecycle;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lifecycle_legs_test, rig)

// -- legs ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(next_leg_begins_without_the_state_of_the_last_one) {
  auto& r = accept(&parts_rig::bring_image);
  route(r, two_legs);
  prepare(r);
  r.course.end_leg(ec::none);
  sut.advance(id_of(r), r, now);
  BOOST_TEST(r.course.leg() == 1u);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST(!r.held[held::state]);
  BOOST_TEST(!r.held[held::source]);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(image_that_passes_its_gate_is_finished) {
  auto& r = accept(&parts_rig::bring_image);
  route(r, two_legs);
  draw(r, 0.5);
  write(r, {held::source});
  sut.advance(id_of(r), r, now);
  BOOST_TEST(r.course.answering());
  BOOST_TEST((queue(r) == actors::finish_queue));
  BOOST_TEST(!r.held[held::source]);
  BOOST_TEST(bool(r.held[held::pixels]));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(found_pixels_are_freed_when_the_legs_are_over) {
  auto& r = accept();
  route(r);
  enter(r, "prepare");
  draw(r);
  const auto slots = of.slots.in_use();
  write(r, {held::pixels});
  BOOST_TEST_REQUIRE(r.held.found());
  sut.advance(id_of(r), r, now);
  BOOST_TEST(!r.held.found());
  BOOST_TEST(of.slots.in_use() == slots);
}

BOOST_AUTO_TEST_CASE(row_without_an_image_or_a_leg_fails_as_its_last_leg) {
  auto& r = accept();
  route(r);
  enter(r, "denoise");
  of.requests.run(r);
  r.course.end_leg(ec::io_failed);
  sut.advance(id_of(r), r, now);
  BOOST_TEST((only_answer().failure.code == ec::io_failed));
  BOOST_TEST(only_answer().failure.text
             == "no stage of route card@4 produced an image");
  BOOST_TEST(counts().failed == 1u);
}

BOOST_AUTO_TEST_CASE(waiting_row_whose_only_leg_fails_ends_with_the_reason) {
  auto& r = waits_to_draw();
  sut.leg_failed(id_of(r), r, broken, now);
  BOOST_TEST((only_answer().failure == broken));
  BOOST_TEST(counts().failed == 1u);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(waiting_row_whose_leg_fails_begins_the_next_one) {
  auto& r = waits_to_draw([](core::request&) {}, two_legs);
  sut.leg_failed(id_of(r), r, broken, now);
  BOOST_TEST(answers().empty());
  BOOST_TEST(r.course.leg() == 1u);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST((r.course.known().done.at(0).failure == broken.code));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(counts().waiting.at(card_4.value) == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(waiting_row_whose_later_leg_fails_keeps_its_image) {
  auto& r = draws_again();
  sut.leg_failed(id_of(r), r, broken, now);
  BOOST_TEST(r.course.answering());
  BOOST_TEST((queue(r) == actors::finish_queue));
  BOOST_TEST(bool(r.held[held::pixels]));
  BOOST_TEST(!r.held[held::state]);
  BOOST_TEST(of.slots.free(slot_kind::state) == 8u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(leg_begins_anew_without_what_the_row_held) {
  auto& r = accept(&parts_rig::bring_image);
  route(r);
  prepare(r);
  write(r, {held::pixels});
  capture(r);
  sut.restart_leg(id_of(r), r, broken, now);
  BOOST_TEST(counts().legs_restarted == 1u);
  BOOST_TEST(r.course.leg() == 0u);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST(r.held.captures().empty());
  BOOST_TEST(!r.held.any());
  BOOST_TEST(of.slots.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(second_leg_begins_anew_and_keeps_the_first_image) {
  auto& r = draws_again();
  waiting.leave(id_of(r), r, now);
  sut.restart_leg(id_of(r), r, broken, now);
  BOOST_TEST(r.course.leg() == 1u);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST(bool(r.held[held::pixels]));
}

BOOST_AUTO_TEST_CASE(suspect_is_tried_alone_again_where_its_leg_begins_anew) {
  auto& r = accept();
  route(r);
  prepare(r);
  accuse(r);
  sut.restart_leg(id_of(r), r, broken, now);
  // Preparing is not suspected.
  BOOST_TEST(waits_to_be_prepared(r));
  waiting.leave(id_of(r), r, now);
  write(r, {held::state});
  sut.next_stage(id_of(r), r, of.path.denoise(), now);
  BOOST_TEST(of.suspicions.is_alone(id_of(r)));
  BOOST_TEST((queue(r) == actors::alone_queue(queue_of(card_4))));
}

BOOST_AUTO_TEST_CASE(row_is_prepared_anew_for_a_variant_that_it_does_not_fit) {
  auto& r = waits_to_draw();
  accuse(r);
  sut.prepare_for(id_of(r), r, card_2, now);
  BOOST_TEST(waits_to_be_prepared(r));
  BOOST_TEST(r.course.is_bound());
  BOOST_TEST((r.course.recipe().variant == card_2));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(counts().waiting.at(card_4.value) == 0u);
  BOOST_TEST(check() == "");
  // A suspect stays one.
  waiting.leave(id_of(r), r, now);
  write(r, {held::state});
  sut.next_stage(id_of(r), r, of.path.denoise(), now);
  BOOST_TEST((queue(r) == actors::alone_queue(queue_of(card_2))));
}

// -- time ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(late_row_without_an_image_fails) {
  auto& r = waits_to_draw([](core::request&) {}, two_legs);
  sut.expire(id_of(r), r, now);
  BOOST_TEST((only_answer().failure.code == ec::deadline_missed));
  BOOST_TEST(counts().late == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(late_row_fails_if_its_route_drops_it) {
  follow([](planning::plan& x) {
    x.routes[0].legs.push_back(x.routes[0].legs.front());
  });
  auto& r = draws_again([](core::request&) {}, core::route_id{0});
  sut.expire(id_of(r), r, now);
  BOOST_TEST((only_answer().failure.code == ec::deadline_missed));
}

BOOST_AUTO_TEST_CASE(late_row_that_waits_is_finished_with_its_image) {
  auto& r = draws_again([&](core::request& x) { x.deadline = now + 1s; });
  sut.expire(id_of(r), r, now);
  BOOST_TEST((queue(r) == actors::finish_queue));
  BOOST_TEST(r.course.answering());
  BOOST_TEST((r.due() == core::never));
  BOOST_TEST(counts().waiting.at(card_4.value) == 0u);
  BOOST_TEST(counts().late == 0u);
  BOOST_TEST(take_sent<actors::cancel_work>().empty());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(late_row_that_runs_is_finished_with_its_image) {
  auto& w = device(2);
  auto& r = draws_again();
  const auto who = run(r, w);
  sut.expire(id_of(r), r, now);
  BOOST_TEST((queue(r) == actors::finish_queue));
  const auto sent = take_sent<actors::cancel_work>();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST((sent[0].ticket == who));
  // Its order keeps its seat until the worker replies.
  BOOST_TEST(w.seat.taken() == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_only_lacks_its_encoding_is_never_late) {
  follow([](planning::plan& x) {
    x.routes[0].late = planning::late_rule::answer_best;
  });
  auto& r = waits_to_finish();
  of.requests.set_due(r, now);
  sut.expire(id_of(r), r, now);
  BOOST_TEST(answers().empty());
  BOOST_TEST((queue(r) == actors::finish_queue));
  BOOST_TEST((r.due() == core::never));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_with_an_image_expires_in_time_for_its_answer) {
  // The mean moves by a sixteenth.
  of.forecast.finished(1600ms);
  const auto due = [&](core::route_id along, core::time_point deadline) {
    auto& r = accept([&](core::request& x) { x.deadline = deadline; });
    route(r, along);
    draw(r);
    sut.advance(id_of(r), r, now);
    BOOST_REQUIRE(waits_to_be_prepared(r));
    return r.due();
  };
  // The margin, and twice the time of finishing.
  BOOST_TEST((due(two_legs, now + 10s) == now + 10s - 25ms - 200ms));
  BOOST_TEST((due(two_legs, core::never) == core::never));
  follow([](planning::plan& x) {
    x.routes[0].legs.push_back(x.routes[0].legs.front());
    x.routes[0].legs[0].check = planning::gate{"judge", 0};
    x.thresholds = {0.5};
  });
  BOOST_TEST((due(core::route_id{0}, now + 10s) == now + 10s));
}

BOOST_AUTO_TEST_SUITE_END()
