// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/queue_ids.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::phase;
using actors::role;
using actors::row_state;
using planning::queue_of;
using test::parts_rig;

using requests = std::vector<core::request_id>;

constexpr core::tenant_id ann{1};
constexpr core::variant_id four_steps{0};
constexpr core::variant_id two_steps{1};

struct rig : parts_rig {
  actors::queueing& sut = waiting;

  uint64_t waits(core::variant_id v) const {
    const auto& all = of.records.counts().waiting;
    return v.value < all.size() ? all[v.value] : 0;
  }

  uint64_t waits_shared(core::variant_id v) const {
    const auto& all = of.records.counts().waiting_shared;
    return v.value < all.size() ? all[v.value] : 0;
  }

  // Takes the queues that must be looked at.
  std::vector<core::queue_id> looked_at() {
    std::vector<core::queue_id> all;
    while (const auto queue = of.queues.next())
      all.push_back(*queue);
    return all;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(queueing_test, rig)

// -- into a queue -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_that_waits_for_a_device_is_counted) {
  auto& r = accept(ann);
  route(r);
  prepare(r);
  of.requests.run(r);
  now += 1s;
  wait(r);
  const auto id = id_of(r);
  BOOST_TEST((r.state() == row_state::waiting));
  BOOST_TEST((r.waiting_since() == now));
  BOOST_TEST((of.queues.where(id) == queue_of(four_steps)));
  BOOST_TEST(of.requests.has_ahead(ann));
  // Text, decoding and four steps.
  BOOST_TEST((of.forecast.work_of(id) == 47ms));
  BOOST_TEST(waits(four_steps) == 1u);
  BOOST_TEST(waits_shared(four_steps) == 1u);
  BOOST_TEST(of.queues.marks_of(id).under_way);
  BOOST_TEST(!of.queues.marks_of(id).held_up);
}

BOOST_AUTO_TEST_CASE(row_that_waits_to_be_prepared_is_counted_as_work) {
  auto& r = waits_to_prepare([](core::request& x) { x.tenant = ann; });
  BOOST_TEST((of.queues.where(id_of(r)) == actors::prepare_queue));
  BOOST_TEST(!of.requests.has_ahead(ann));
  BOOST_TEST((of.forecast.work_of(id_of(r)) == 47ms));
  BOOST_TEST(waits(four_steps) == 0u);
  BOOST_TEST(!of.queues.marks_of(id_of(r)).under_way);
}

BOOST_AUTO_TEST_CASE(row_that_waits_to_be_finished_needs_no_device) {
  auto& r = waits_to_draw();
  sut.leave(id_of(r), r, now);
  enter(r, "finish");
  wait(r);
  BOOST_TEST((of.queues.where(id_of(r)) == actors::finish_queue));
  BOOST_TEST((of.forecast.work_of(id_of(r)) == 0ms));
  BOOST_TEST(waits(four_steps) == 0u);
}

BOOST_AUTO_TEST_CASE(row_comes_to_the_front_or_the_back) {
  const auto& first = waits_to_draw();
  auto& last = accept();
  auto& before = accept();
  for (auto* r : {&last, &before}) {
    route(*r);
    prepare(*r);
  }
  wait(last);
  wait(before, actors::queues::end::front);
  BOOST_TEST((of.queues.of(queue_of(four_steps))
              == requests{id_of(before), id_of(first), id_of(last)}));
}

BOOST_AUTO_TEST_CASE(delayed_row_is_counted_as_held_up) {
  auto& r = accept();
  route(r);
  prepare(r);
  of.suspicions.note_delay(id_of(r));
  wait(r);
  BOOST_TEST(of.queues.marks_of(id_of(r)).held_up);
}

BOOST_AUTO_TEST_CASE(row_in_a_workers_own_queue_is_counted_there) {
  auto& w = device(2);
  place_in(queue_of(w.id()));
  auto& r = waits_to_draw();
  BOOST_TEST(w.waiting() == 1u);
  BOOST_TEST(waits(four_steps) == 1u);
  BOOST_TEST(waits_shared(four_steps) == 0u);
  place_in(actors::alone_queue(queue_of(w.id())));
  waits_to_draw();
  BOOST_TEST(w.waiting() == 2u);
  sut.leave(id_of(r), r, now);
  BOOST_TEST(w.waiting() == 1u);
  BOOST_TEST(waits(four_steps) == 1u);
}

BOOST_AUTO_TEST_CASE(suspect_is_counted_for_the_queue_of_others) {
  auto& r = accept();
  route(r);
  prepare(r);
  accuse(r);
  wait(r);
  BOOST_TEST(
    (of.queues.where(id_of(r)) == actors::alone_queue(queue_of(four_steps))));
  BOOST_TEST(waits_shared(four_steps) == 1u);
}

BOOST_AUTO_TEST_CASE(row_expires_when_it_can_no_longer_be_in_time) {
  auto& w = device(2);
  const auto due = [&](bool has_image) {
    auto& r = accept([&](core::request& x) { x.deadline = now + 1s; });
    route(r);
    if (has_image)
      r.course.end_leg(core::ec::none);
    prepare(r);
    wait(r);
    return r.due() - now;
  };
  // On a guess, none does.
  BOOST_TEST((due(false) == 1s));
  measure(four_steps, w);
  BOOST_TEST((due(false) == 950ms));
  BOOST_TEST((due(true) == 1s));
}

// -- out of a queue -----------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_that_leaves_is_no_longer_counted) {
  auto& r = waits_to_draw(ann);
  const auto id = id_of(r);
  now += 2s;
  sut.leave(id, r, now);
  BOOST_TEST(!of.queues.contains(id));
  BOOST_TEST(!of.requests.has_ahead(ann));
  BOOST_TEST(waits(four_steps) == 0u);
  BOOST_TEST(waits_shared(four_steps) == 0u);
  actors::answer a;
  r.account.close(a, r.request->arrived, now);
  BOOST_TEST((a.took.queue == 2s));
}

BOOST_AUTO_TEST_CASE(row_that_leaves_is_counted_out_as_it_came) {
  auto& r = waits_to_draw();
  const auto came_for = r.course.recipe().variant;
  r.course.run_by(two_steps, false);
  sut.leave_for_worker(id_of(r), r, came_for, now);
  BOOST_TEST(waits(four_steps) == 0u);
  BOOST_TEST(waits(two_steps) == 0u);
}

BOOST_AUTO_TEST_CASE(row_that_waits_nowhere_is_not_counted_out) {
  auto& r = waits_to_draw(ann);
  waits_to_draw(ann);
  sut.leave(id_of(r), r, now);
  sut.leave(id_of(r), r, now);
  BOOST_TEST(waits(four_steps) == 1u);
  BOOST_TEST(of.requests.has_ahead(ann));
}

BOOST_AUTO_TEST_CASE(worker_that_drains_for_a_suspect_is_looked_at_anew) {
  auto& w = device(2);
  w.trial.drain();
  device(3);
  auto& other = waits_to_draw();
  auto& suspect = waits_to_draw();
  accuse(suspect);
  looked_at();
  sut.leave(id_of(other), other, now);
  BOOST_TEST(looked_at().empty());
  sut.leave(id_of(suspect), suspect, now);
  std::vector<core::queue_id> alone;
  for (const auto queue :
       {queue_of(four_steps), queue_of(two_steps), queue_of(w.id())})
    alone.push_back(actors::alone_queue(queue));
  std::sort(alone.begin(), alone.end());
  BOOST_TEST((looked_at() == alone));
}

BOOST_AUTO_TEST_CASE(row_that_leaves_for_a_worker_ends_no_trial) {
  device(2).trial.drain();
  auto& suspect = waits_to_draw();
  accuse(suspect);
  looked_at();
  sut.leave_for_worker(id_of(suspect), suspect, four_steps, now);
  BOOST_TEST(looked_at().empty());
}

BOOST_AUTO_TEST_CASE(place_ahead_is_given_to_rows_before_a_trial_of_a_pool) {
  const auto starved = [&] {
    of.queues.starve(actors::prepare_queue);
    of.queues.starve(actors::recall_queue);
    looked_at();
    auto& r = waits_to_draw();
    looked_at();
    sut.leave(id_of(r), r, now);
    return looked_at();
  };
  BOOST_TEST(starved().empty());
  auto& suspect = accept();
  route(suspect);
  enter(suspect, "prepare");
  accuse(suspect);
  wait(suspect);
  BOOST_TEST(
    (starved() == std::vector{actors::recall_queue, actors::prepare_queue}));
}

BOOST_AUTO_TEST_CASE(rows_of_a_workers_queues_are_placed_anew) {
  auto& gone = device(2);
  const auto own = queue_of(gone.id());
  place_in(own);
  auto& first = waits_to_draw();
  place_in(actors::alone_queue(own));
  auto& second = waits_to_draw();
  place_in(queue_of(device(3).id()));
  auto& elsewhere = waits_to_draw();
  place_in(queue_of(two_steps));
  now += 1s;
  sut.rehome(gone.id(), now);
  BOOST_TEST((of.queues.where(id_of(first)) == queue_of(two_steps)));
  BOOST_TEST((of.queues.where(id_of(second)) == queue_of(two_steps)));
  BOOST_TEST((of.queues.where(id_of(elsewhere)) != queue_of(two_steps)));
  BOOST_TEST(gone.waiting() == 0u);
  BOOST_TEST((first.waiting_since() == now));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
