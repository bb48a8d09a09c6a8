// SPDX-License-Identifier: Apache-2.0

// Each case breaks one invariant by the parts' verbs and sees its sentence.
// These cannot be broken by them:
// - rows ahead by tenant (requests): both counts change together;
// - a counted request that waits in no queue, and an offer that no queue has
//   (queues): a request's marks leave with it, and an offer names its worker;
// - the times of questions: `looks` and `answered` change both tables together;
// - more orders than seats (workers): a seat must be free;
// - the devices' predicted work: it is the sum over requests, each of which
//   either has a row or is found before as one that ended.
#include "actors/parts_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::phase;
using actors::row_state;
using planning::held;
using test::parts_rig;

constexpr core::variant_id light{0};
constexpr core::request_id stranger{99};

struct rig : parts_rig {
  rig() {
    auto& cpu = pool(actors::role::preprocess);
    auto& w = device(2);
    waits_to_prepare();
    run(waits_to_prepare(), cpu);
    drawn = draws_at(w);
    waiting_row = &waits_to_draw();
    BOOST_REQUIRE_EQUAL(check(), "");
  }

  actors::worker& at_device() {
    return of.workers.at(core::worker_id{2});
  }

  core::ticket drawn;
  actors::row* waiting_row = nullptr;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(inspection_test, rig)

// -- requests -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(requests_that_arrived_are_conserved) {
  of.records.count(&actors::counters::arrived);
  BOOST_TEST(check() == "requests are not conserved");
}

BOOST_AUTO_TEST_CASE(each_end_of_a_request_counts_for_conservation) {
  const auto end = [&](row_state as, auto count) {
    auto& r = accept();
    of.requests.end(r, as);
    BOOST_TEST(check() == "requests are not conserved");
    count(actors::records::ending{id_of(r), "card@4", 0});
    BOOST_TEST(check() == "");
  };
  const auto why = core::fail(core::ec::internal, "why");
  end(row_state::answered, [&](auto x) { of.records.answered(x, now); });
  end(row_state::failed, [&](auto x) { of.records.failed(x, why, now); });
  end(row_state::cancelled, [&](auto x) { of.records.cancelled(x, why, now); });
  of.records.count(&actors::counters::arrived);
  of.records.refused(*waiting_row->request, why, now);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_is_due_is_found_by_its_time) {
  auto& r = waits_to_draw([&](core::request& x) { x.deadline = now + 9s; });
  auto copy = r;
  of.requests.set_due(copy, core::never);
  BOOST_TEST(check() == "row 5 is due and not found");
}

BOOST_AUTO_TEST_CASE(time_at_which_no_row_is_due_is_a_fault) {
  auto copy = *waiting_row;
  of.requests.set_due(copy, now + 1s);
  BOOST_TEST(check() == "a row is found by a time that is not its own");
}

BOOST_AUTO_TEST_CASE(bytes_of_open_requests_are_conserved) {
  auto copy = *waiting_row;
  of.requests.end(copy, row_state::failed);
  of.records.failed({id_of(copy), "card@4", 0}, {}, now);
  BOOST_TEST(check() == "the bytes of accepted requests are not conserved");
}

BOOST_AUTO_TEST_CASE(open_rows_are_counted) {
  auto& r = waits_to_draw([](core::request& x) { x.text.positive.clear(); });
  auto copy = r;
  of.requests.end(copy, row_state::failed);
  of.records.failed({id_of(copy), "card@4", 0}, {}, now);
  BOOST_TEST(check() == "open rows are not counted");
}

// -- slots, queues and questions ----------------------------------------------

BOOST_AUTO_TEST_CASE(order_keeps_the_slots_that_it_was_granted) {
  of.slots.lost(life(2), true);
  BOOST_TEST(check() == "request 3 lost a granted slot");
}

BOOST_AUTO_TEST_CASE(requests_that_were_delayed_are_counted_by_queue) {
  of.queues.push(core::queue_id{1}, of.matching.entry_of(*waiting_row),
                 actors::queues::end::back, {true, true});
  BOOST_TEST(check() == "requests that were delayed are not counted");
}

BOOST_AUTO_TEST_CASE(requests_under_way_are_counted_by_queue) {
  of.queues.push(core::queue_id{1}, of.matching.entry_of(*waiting_row),
                 actors::queues::end::back, {false, true});
  BOOST_TEST(check() == "requests that are under way are not counted");
}

BOOST_AUTO_TEST_CASE(worker_makes_each_offer_once) {
  out.offer(at_device());
  BOOST_TEST(check() == "");
  const core::queue_id twice[] = {core::queue_id{0}, core::queue_id{0}};
  of.queues.offer(at_device().id(), 1, twice);
  BOOST_TEST(check() == "a queue has an offer that its worker did not make");
}

// -- workers ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(worker_is_found_by_its_address) {
  auto& idle = device(3);
  auto node = of.workers.all().extract(idle.id());
  node.key() = core::worker_id{99};
  of.workers.all().insert(std::move(node));
  BOOST_TEST(check() == "worker 99 is not found by its address");
}

BOOST_AUTO_TEST_CASE(address_names_a_worker_that_is_there) {
  of.workers.all().erase(device(3).id());
  BOOST_TEST(check() == "an address names a worker that is gone");
}

BOOST_AUTO_TEST_CASE(seats_of_devices_are_counted) {
  device(3).seat = actors::seating{9};
  BOOST_TEST(check() == "the seats of devices are not counted");
}

// -- rows ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(waiting_row_is_in_a_queue) {
  auto& r = accept();
  BOOST_TEST(check() == "row 5 waits but is in no queue");
  route(r);
  enter(r, "prepare");
  wait(r);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_does_not_wait_is_in_no_queue) {
  of.requests.run(*waiting_row);
  BOOST_TEST(check() == "row 4 does not wait but is in a queue");
}

BOOST_AUTO_TEST_CASE(asking_row_has_an_open_question) {
  auto& r = accept();
  of.requests.ask(r);
  BOOST_TEST(check() == "row 5 asks for nothing, or does not wait for it");
  of.questions.begin(id_of(r), {}, now);
  of.questions.looks(id_of(r), 0, now + 1s);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_with_an_open_question_asks) {
  const auto id = id_of(*waiting_row);
  of.questions.begin(id, {}, now);
  of.questions.looks(id, 0, now + 1s);
  BOOST_TEST(check() == "row 4 asks for nothing, or does not wait for it");
}

BOOST_AUTO_TEST_CASE(running_row_has_an_order_with_its_attempt) {
  of.requests.run(of.requests.at(drawn.id));
  BOOST_TEST(check() == "row 3 runs on no worker");
}

BOOST_AUTO_TEST_CASE(row_that_starts_from_an_image_keeps_its_source) {
  auto& r = waits_to_draw(&parts_rig::bring_image);
  BOOST_TEST(check() == "");
  of.slots.drop_source(r.held);
  BOOST_TEST(check() == "row 5 lost its source, or keeps one for nothing");
}

BOOST_AUTO_TEST_CASE(source_of_a_row_is_still_its_slot) {
  auto& r = waits_to_draw(&parts_rig::bring_image);
  of.slots.end(id_of(r));
  BOOST_TEST(check() == "row 5 lost its source, or keeps one for nothing");
}

BOOST_AUTO_TEST_CASE(row_that_starts_from_noise_keeps_no_source) {
  write(*waiting_row, {held::source});
  BOOST_TEST(check() == "row 4 lost its source, or keeps one for nothing");
}

BOOST_AUTO_TEST_CASE(row_that_is_to_be_prepared_has_no_source_yet) {
  auto& r = waits_to_prepare(&parts_rig::bring_image);
  BOOST_TEST(check() == "");
  of.queues.remove(id_of(r));
  write(r, {held::source});
  wait(r);
  BOOST_TEST(check() == "row 5 lost its source, or keeps one for nothing");
}

BOOST_AUTO_TEST_CASE(row_that_ended_is_known_to_no_table) {
  const auto known = [&](auto enter_id) {
    const auto broken = "a part still knows request 5, which ended";
    rig fresh;
    auto& r = fresh.accept();
    enter_id(fresh, parts_rig::id_of(r));
    fresh.of.requests.end(r, row_state::failed);
    fresh.of.records.failed({parts_rig::id_of(r), "", 0}, {}, now);
    BOOST_TEST(fresh.check() == broken);
    fresh.of.requests.forget(core::request_id{5});
    BOOST_TEST(fresh.check() == broken);
  };
  known([](rig& x, auto id) { x.of.questions.count_question(id); });
  known([](rig& x, auto id) { x.of.suspicions.note_delay(id); });
  known([](rig& x, auto id) {
    x.of.forecast.count(id, x.waiting_row->course.recipe(), 1);
  });
}

BOOST_AUTO_TEST_CASE(queue_names_no_request_without_a_row) {
  planning::waiting entry;
  entry.request = stranger;
  of.queues.push(core::queue_id{7}, entry, actors::queues::end::back, {});
  BOOST_TEST(check() == "rows and queues disagree");
}

// -- what queues count --------------------------------------------------------

BOOST_AUTO_TEST_CASE(delayed_row_is_counted_as_held_up) {
  const auto id = id_of(*waiting_row);
  of.suspicions.note_delay(id);
  BOOST_TEST(check() == "row 4 is not counted as what it is");
  of.queues.hold_up(id);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_holds_slots_is_counted_as_under_way) {
  of.slots.drop_start(waiting_row->held);
  BOOST_TEST(check() == "row 4 is not counted as what it is");
}

BOOST_AUTO_TEST_CASE(rows_in_a_workers_own_queues_are_counted) {
  auto& w = at_device();
  of.workers.count_waiting(w.id(), true);
  BOOST_TEST(check() == "the queue of worker 2 is not counted");
  of.workers.count_waiting(w.id(), false);
  place_in(planning::queue_of(w.id()));
  waits_to_draw();
  BOOST_TEST(check() == "");
  place_in(actors::alone_queue(planning::queue_of(w.id())));
  waits_to_draw();
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(filling_of_a_batch_ends_with_its_event) {
  at_device().batch.fill();
  BOOST_TEST(check() == "worker 2 still fills its batch");
}

// -- views --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(views_follow_their_workers) {
  at_device().seat.ran(1);
  BOOST_TEST(check() == "the view of worker 2 is out of date");
}

BOOST_AUTO_TEST_CASE(worker_that_policies_see_has_a_view) {
  auto& all = of.workers.all();
  auto node = all.extract(device(3).id());
  of.workers.members_changed();
  of.views.cluster();
  all.insert(std::move(node));
  BOOST_TEST(check() == "the views of the workers are not complete");
}

BOOST_AUTO_TEST_CASE(suspected_and_slow_workers_have_no_view) {
  of.workers.suspect(device(3));
  of.workers.set_slow(device(4), true);
  BOOST_TEST(check() == "");
  BOOST_TEST(of.views.cluster().workers.size() == 1u);
}

// -- orders, seats and slots --------------------------------------------------

BOOST_AUTO_TEST_CASE(order_has_an_entry_of_slots) {
  of.slots.orphan(drawn);
  BOOST_TEST(check() == "dispatches and slots disagree");
}

BOOST_AUTO_TEST_CASE(entry_of_slots_has_an_order) {
  BOOST_REQUIRE(of.slots.grant({stranger, 1}, life(2), {}, {}) != nullptr);
  BOOST_TEST(check() == "dispatches and slots disagree");
}

BOOST_AUTO_TEST_CASE(steps_of_a_worker_are_those_of_its_orders) {
  auto& w = at_device();
  w.seat.ran(1);
  of.workers.view_changed(w);
  BOOST_TEST(check() == "the steps of worker 2 are not conserved");
}

BOOST_AUTO_TEST_CASE(each_order_has_one_seat) {
  auto& w = at_device();
  w.seat.sit(drawn, 0);
  of.workers.view_changed(w);
  BOOST_TEST(check() == "seats of worker 2 are not conserved");
}

// -- rows that run alone ------------------------------------------------------

BOOST_AUTO_TEST_CASE(rows_that_are_no_suspects_share_a_worker) {
  draws_at(at_device());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(suspect_at_a_device_has_the_worker_to_itself) {
  auto& beside = waits_to_draw();
  run(*waiting_row, device(3), true);
  BOOST_TEST(check() == "");
  run(beside, of.workers.at(core::worker_id{3}));
  BOOST_TEST(check() == "request 4 is not alone");
}

BOOST_AUTO_TEST_CASE(suspect_in_a_pool_has_the_process_to_itself) {
  auto& other = waits_to_prepare();
  auto& another = waits_to_prepare();
  run(other, pool(actors::role::preprocess, 7), true);
  // A device of the same process is no pool's worker.
  run(*waiting_row, device(7));
  BOOST_TEST(check() == "");
  run(another, pool(actors::role::postprocess, 7));
  BOOST_TEST(check() == "request 5 is not alone");
}

// -- what people see ----------------------------------------------------------

BOOST_AUTO_TEST_CASE(status_counts_rows_slots_and_workers) {
  const auto s = inspected().status(*profile);
  BOOST_TEST(s.counts.arrived == 4u);
  BOOST_TEST(s.waiting == 2u);
  BOOST_TEST(s.running == 2u);
  BOOST_TEST((s.plan == of.rules.plan()));
  BOOST_TEST((s.profile == of.forecast.profile()));
  BOOST_TEST(s.slots == 16u);
  // One state is prepared, one is ready, and one is drawn into a state and an
  // image.
  BOOST_TEST(s.slots_in_use == 5u);
  BOOST_TEST(s.pool_workers.at(actors::role::preprocess) == 1u);
  BOOST_TEST_REQUIRE(s.workers.size() == 1u);
  const auto& line = s.workers.front();
  BOOST_TEST(line.device == "cpu");
  BOOST_TEST(line.variants.size() == 2u);
  BOOST_TEST(line.variants.front() == "card@4");
  BOOST_TEST(line.seats_taken == 1u);
  BOOST_TEST(line.seats == 4u);
  BOOST_TEST(line.max_batch == 4u);
  BOOST_TEST(!line.loading);
  BOOST_TEST(!line.slow);
  BOOST_TEST(line.failed.empty());
}

BOOST_AUTO_TEST_CASE(status_shows_loads_failures_and_slowness) {
  planning::assignment other;
  other.hosting = {core::variant_id{1}};
  of.hosting.apply(at_device(), other, {}, now);
  auto& w = device(3, [](auto& x) { x.variants = {"card@2"}; });
  fail_to_load(w, light);
  of.workers.set_slow(w, true);
  const auto s = inspected().status(*profile);
  BOOST_TEST_REQUIRE(s.workers.size() == 2u);
  BOOST_TEST(s.workers[0].loading);
  BOOST_TEST(!s.workers[0].slow);
  BOOST_TEST(!s.workers[1].loading);
  BOOST_TEST(s.workers[1].slow);
  BOOST_TEST_REQUIRE(s.workers[1].failed.size() == 1u);
  BOOST_TEST((s.workers[1].failed.front().variant == light));
}

BOOST_AUTO_TEST_SUITE_END()
