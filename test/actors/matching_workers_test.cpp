// SPDX-License-Identifier: Apache-2.0
#include "actors/matching_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using test::four_steps;
using test::matching_rig;
using test::other_model;
using test::two_steps;

using workers = std::vector<core::worker_id>;

struct rig : matching_rig {
  const actors::matching& sut = of.matching;

  std::optional<core::worker_id> choice(const workers& passed = {}) const {
    return sut.choose_worker(queue(four_steps), now, passed);
  }

  std::optional<core::worker_id> seat() const {
    return sut.seat_in_group(queue(four_steps), now);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(matching_workers_test, rig)

// -- a worker for a row -------------------------------------------------------

BOOST_AUTO_TEST_CASE(worker_without_an_offer_is_not_chosen) {
  device_of(2, "quick");
  waits_to_draw();
  BOOST_TEST(!choice().has_value());
}

BOOST_AUTO_TEST_CASE(least_loaded_worker_is_chosen) {
  auto& busy = offering(2);
  auto& idle = offering(3);
  waits_to_draw();
  BOOST_TEST((choice() == busy.id()));
  runs_at(busy);
  BOOST_TEST((choice() == idle.id()));
}

BOOST_AUTO_TEST_CASE(workers_that_were_tried_are_passed) {
  const auto& first = offering(2);
  const auto& second = offering(3);
  waits_to_draw();
  BOOST_TEST((choice({first.id()}) == second.id()));
  BOOST_TEST(!choice({first.id(), second.id()}).has_value());
}

BOOST_AUTO_TEST_CASE(full_batches_are_compared_by_when_they_end) {
  auto& late = offering(2, "quick", 4, 1);
  auto& soon = offering(3, "quick", 4, 1);
  auto& passed = offering(4, "quick", 4, 1);
  waits_to_draw();
  runs_at(late, four_steps);
  runs_at(soon, two_steps);
  runs_at(passed, two_steps);
  BOOST_TEST((choice() == soon.id()));
  BOOST_TEST((choice({soon.id()}) == passed.id()));
  BOOST_TEST((choice({soon.id(), passed.id()}) == late.id()));
}

BOOST_AUTO_TEST_CASE(batch_with_a_place_is_chosen_without_a_comparison) {
  auto& late = offering(2, "quick", 4, 2);
  auto& soon = offering(3, "quick", 4, 2);
  waits_to_draw();
  runs_at(late, four_steps);
  runs_at(soon, two_steps);
  BOOST_TEST((choice() == late.id()));
}

BOOST_AUTO_TEST_CASE(kinds_are_compared_by_when_they_end) {
  auto& slow = offering(2, "slow");
  auto& quick = offering(3, "quick");
  waits_to_draw();
  BOOST_TEST((choice() == quick.id()));
  BOOST_TEST((choice({quick.id()}) == slow.id()));
}

BOOST_AUTO_TEST_CASE(so_many_workers_are_compared_and_no_more) {
  std::vector<core::worker_id> slow;
  for (uint32_t i = 0; i < 16; ++i)
    slow.push_back(offering(2 + i, "slow").id());
  const auto& quick = offering(50, "quick");
  waits_to_draw();
  BOOST_TEST((choice() == slow.front()));
  BOOST_TEST((choice({slow.front()}) == quick.id()));
}

BOOST_AUTO_TEST_CASE(least_loaded_worker_of_a_pool_is_chosen) {
  auto& busy = pool(role::preprocess, 1);
  auto& idle = pool(role::preprocess, 5);
  offering(2, "slow");
  offering(3, "quick");
  run(waits_to_prepare(), busy);
  out.offer(busy);
  out.offer(idle);
  waits_to_prepare();
  BOOST_TEST((sut.choose_worker(actors::prepare_queue, now, {}) == idle.id()));
}

BOOST_AUTO_TEST_CASE(rows_of_the_same_weights_share_steps) {
  auto& w = device_of(2, "quick");
  using queues = std::vector<core::queue_id>;
  BOOST_TEST((sut.queues_beside(queue(four_steps), w)
              == queues{queue(four_steps), queue(two_steps)}));
  BOOST_TEST(
    (sut.queues_beside(queue(other_model), w) == queues{queue(other_model)}));
  const auto own = planning::queue_of(w.id());
  BOOST_TEST((sut.queues_beside(own, w) == queues{own}));
  join(w, planning::joining::whole_batch);
  BOOST_TEST(
    (sut.queues_beside(queue(four_steps), w) == queues{queue(four_steps)}));
}

// -- groups -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(idle_worker_of_a_majority_begins_a_batch) {
  auto& busy = offering(2);
  auto& idle = offering(3);
  runs_at(busy);
  now += 1s;
  waits_to_draw();
  // An idle half is no majority: the row joins the batch.
  BOOST_TEST((seat() == busy.id()));
  offering(4);
  BOOST_TEST((seat() == idle.id()));
}

BOOST_AUTO_TEST_CASE(worker_that_takes_nothing_is_not_idle) {
  auto& busy = offering(2);
  offering(3);
  auto& kept = offering(4);
  runs_at(busy);
  now += 1s;
  waits_to_draw();
  kept.trial.drain();
  out.offer(kept);
  BOOST_TEST((seat() == busy.id()));
}

BOOST_AUTO_TEST_CASE(suspected_worker_is_not_counted_with_the_others) {
  auto& busy = offering(2);
  auto& idle = offering(3);
  runs_at(busy);
  offering(4);
  runs_at(offering(5));
  now += 1s;
  waits_to_draw();
  // Two of four are idle.
  BOOST_TEST((seat() == busy.id()));
  of.workers.suspect(of.workers.at(core::worker_id{4}));
  of.queues.withdraw(core::worker_id{4});
  BOOST_TEST((seat() == idle.id()));
}

BOOST_AUTO_TEST_CASE(row_joins_a_batch_that_has_just_begun) {
  auto& fresh = offering(2);
  auto& idle = offering(3);
  offering(4);
  runs_at(fresh);
  waits_to_draw();
  // A twentieth of the row's 50 ms.
  now += 2500us;
  BOOST_TEST((seat() == fresh.id()));
  now += 1us;
  BOOST_TEST((seat() == idle.id()));
}

BOOST_AUTO_TEST_CASE(full_batch_is_not_joined) {
  auto& w = offering(2, "quick", 4, 2);
  runs_at(w);
  waits_to_draw();
  BOOST_TEST((seat() == w.id()));
  runs_at(w);
  BOOST_TEST(!seat().has_value());
}

BOOST_AUTO_TEST_CASE(rows_of_other_weights_are_not_joined) {
  auto& w = offering(2);
  runs_at(w, two_steps);
  waits_to_draw();
  BOOST_TEST((seat() == w.id()));
  runs_at(w, other_model);
  BOOST_TEST(!seat().has_value());
}

BOOST_AUTO_TEST_CASE(row_joins_before_another_queues_turn_if_that_has_time) {
  auto& w = offering(2);
  runs_at(w);
  const auto other_due = [&](core::time_point when) {
    waits_to_draw([&](core::request& x) { x.deadline = when; },
                  core::route_id{other_model.value});
    waits_to_draw();
    const auto found = seat();
    of.queues.remove(core::request_id{last_id});
    of.queues.remove(core::request_id{last_id - 1});
    return found;
  };
  BOOST_TEST(!other_due(core::never).has_value());
  // Both rows need 50 ms.
  BOOST_TEST(!other_due(now + 99ms).has_value());
  BOOST_TEST((other_due(now + 100ms) == w.id()));
}

BOOST_AUTO_TEST_CASE(next_row_of_the_same_weights_does_not_wait) {
  auto& w = offering(2);
  runs_at(w);
  waits_to_draw([](core::request&) {}, core::route_id{two_steps.value});
  waits_to_draw();
  BOOST_TEST((seat() == w.id()));
}

BOOST_AUTO_TEST_SUITE_END()
