// SPDX-License-Identifier: Apache-2.0

// Rows for whose stage too few slots are free.

#include "actors/layers_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::row_state;
using core::ec;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_4;
using test::layers_rig;
using test::parts_rig;

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};

constexpr auto image_kind = static_cast<size_t>(slot_kind::image);

struct rig : layers_rig {
  rig() : rig(8) {}

  explicit rig(uint32_t slots) : layers_rig(with(slots)), other(accept()) {
    route(other);
  }

  static options with(uint32_t slots) {
    options o;
    o.slots = {slots, slots, 0};
    o.adjust = [](planning::plan& x) {
      auto twice = x.routes[0];
      twice.legs.push_back(twice.legs.front());
      x.routes.push_back(twice);
    };
    return o;
  }

  void pump() {
    sut.pump(now);
  }

  bool runs(const actors::row& r) const {
    return r.state() == row_state::running;
  }

  // Returns the image slots with which a row can be prepared.
  static uint32_t images_for(const actors::row& r) {
    const auto& x = r.course.stage_slots();
    return x.granted[image_kind] + x.reserve[image_kind];
  }

  // A row that waits to be prepared for the second leg of its route.
  actors::row& between_legs() {
    auto& r = accept();
    route(r, core::route_id{2});
    draw(r);
    r.course.begin_leg(1);
    enter(r, "prepare");
    wait(r);
    return r;
  }

  actors::row& waits_to_prepare(core::tenant_id whose) {
    return layers_rig::waits_to_prepare(
      [&](core::request& x) { x.tenant = whose; });
  }

  actors::dispatcher& sut = dispatcher;
  // A row that holds what a test takes from the others.
  actors::row& other;
};

struct many_slots_rig : rig {
  many_slots_rig() : rig(16) {}
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(dispatcher_slots_test, rig)

BOOST_AUTO_TEST_CASE(row_waits_until_its_slots_are_free) {
  serving_pool(role::preprocess);
  auto& r = layers_rig::waits_to_prepare();
  leave_free(other, held::state, 1);
  pump();
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(counts().slot_waits == 1u);
  of.slots.drop_start(other.held);
  pump();
  BOOST_TEST(runs(r));
  BOOST_TEST(counts().slot_waits == 1u);
}

BOOST_AUTO_TEST_CASE(row_that_waits_for_images_is_noted) {
  serving_pool(role::preprocess);
  auto& edit = layers_rig::waits_to_prepare(&parts_rig::bring_image);
  leave_free(other, held::source, images_for(edit) - 1);
  pump();
  BOOST_TEST((of.slots.waiting_for_images() == id_of(edit)));
  BOOST_TEST(of.slots.images_left_for_waiting() == images_for(edit));
}

BOOST_AUTO_TEST_CASE(row_without_files_is_not_noted_as_one_that_waits) {
  serving_pool(role::preprocess);
  serving(2);
  layers_rig::waits_to_prepare();
  waits_to_draw(&parts_rig::bring_image);
  leave_free(other, held::state, 0);
  pump();
  BOOST_TEST(counts().slot_waits == 2u);
  BOOST_TEST(!of.slots.waiting_for_images().has_value());
}

BOOST_FIXTURE_TEST_CASE(
  row_of_another_tenant_goes_if_the_first_must_leave_slots, many_slots_rig) {
  serving_pool(role::preprocess);
  waits_to_draw(ann);
  auto& first = waits_to_prepare(ann);
  auto& last = waits_to_prepare(ben);
  leave_free(other, held::state, 3);
  pump();
  BOOST_TEST((queue(first) == actors::prepare_queue));
  BOOST_TEST(runs(last));
}

BOOST_AUTO_TEST_CASE(more_rows_of_a_tenant_are_not_tried_after_its_first) {
  const auto slot_waits = [](int rows) {
    many_slots_rig x;
    x.serving_pool(role::preprocess);
    x.waits_to_draw(ann);
    for (int i = 0; i < rows; ++i)
      x.waits_to_prepare(ann);
    x.leave_free(x.other, held::state, 3);
    x.pump();
    return x.counts().slot_waits;
  };
  BOOST_TEST(slot_waits(1) == 1u);
  BOOST_TEST(slot_waits(3) == 1u);
}

BOOST_FIXTURE_TEST_CASE(tenant_behind_the_first_rows_goes_if_they_leave_slots,
                        many_slots_rig) {
  auto& w = device(2, [](actors::worker_ready& x) { x.seats = 8; });
  draws_at(w, ann);
  out.offer(w);
  for (int i = 0; i < 5; ++i)
    waits_to_draw(ann);
  auto& last = waits_to_draw(ben);
  // All others come first by the work that was received.
  of.queues.charge(ben, 30s, now);
  leave_free(other, held::state, 1);
  pump();
  BOOST_TEST(runs(last));
  BOOST_TEST(w.seat.taken() == 2u);
}

BOOST_AUTO_TEST_CASE(late_row_ends_though_the_next_one_lacks_slots) {
  serving(2);
  waits_to_draw([&](core::request& x) {
    x.tenant = ben;
    x.deadline = now + 10ms;
  });
  auto& r = waits_to_draw(ann);
  leave_free(other, held::source, 0);
  pump();
  BOOST_TEST((only_answer().failure.code == ec::deadline_missed));
  BOOST_TEST((queue(r) == queue_of(card_4)));
  BOOST_TEST(counts().slot_waits == 1u);
}

BOOST_AUTO_TEST_CASE(row_under_way_goes_before_one_that_waits_for_slots) {
  serving_pool(role::preprocess);
  auto& edit = layers_rig::waits_to_prepare(&parts_rig::bring_image);
  auto& r = between_legs();
  leave_free(other, held::source, images_for(edit) - 1);
  BOOST_TEST_REQUIRE(images_for(r) < images_for(edit));
  pump();
  BOOST_TEST(runs(r));
  BOOST_TEST((queue(edit) == actors::prepare_queue));
}

BOOST_AUTO_TEST_CASE(delayed_row_without_slots_delays_no_trial) {
  auto& w = serving(2);
  place_in(queue_of(w.id()));
  auto& delayed = waits_to_draw();
  delay(delayed);
  policy->placing = {};
  auto& suspect = accept();
  route(suspect);
  prepare(suspect);
  accuse(suspect);
  wait(suspect);
  leave_free(other, held::source, 0);
  // The queue of suspects is looked at before that of the worker.
  pump();
  BOOST_TEST(w.trial.draining());
}

BOOST_AUTO_TEST_SUITE_END()
