// SPDX-License-Identifier: Apache-2.0
#include "actors/matching_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::matching;
using actors::role;
using planning::joining;
using test::four_steps;
using test::matching_rig;
using test::two_steps;

using requests = std::vector<core::request_id>;
using tenants = std::vector<core::tenant_id>;

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};
constexpr core::tenant_id cid{3};

struct rig : matching_rig {
  using matching_rig::matching_rig;

  const matching& sut = of.matching;

  std::vector<planning::waiting> next(const actors::worker& w,
                                      const tenants& without = {}) const {
    return sut.next_rows(w.host.queues(), w, without, now);
  }

  // A row of a tenant that is prepared, as often as `count` says.
  void ahead(core::tenant_id whose, int count) {
    for (int i = 0; i < count; ++i)
      waits_to_draw(whose);
  }

  // A row that waits for the second leg of its route.
  actors::row& between_legs() {
    auto& r = accept();
    route(r);
    r.course.end_leg(core::ec::none);
    r.course.begin_leg(1);
    prepare(r);
    wait(r);
    return r;
  }
};

matching_rig::options with_two_legs() {
  matching_rig::options o;
  o.adjust = [](planning::plan& x) {
    auto second = x.routes[0].legs[0];
    x.routes[0].legs.push_back(second);
  };
  return o;
}

struct two_leg_rig : rig {
  two_leg_rig() : rig(with_two_legs()) {}
};

matching_rig::options with_recall() {
  actors::standard_stages own;
  own.fetch =
    test::told("recalled", planning::hook::each_leg, planning::if_failed::fail,
               {}, {}, planning::place::background);
  matching_rig::options o;
  o.stages = test::pipeline_with(own);
  return o;
}

struct recall_rig : rig {
  recall_rig() : rig(with_recall()) {}
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(matching_test, rig)

// -- a row --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(pools_rows_wait_in_the_queue_of_their_pool) {
  auto& r = accept();
  route(r);
  enter(r, "prepare");
  BOOST_TEST((sut.queue_of(r) == actors::prepare_queue));
  enter(r, "finish");
  BOOST_TEST((sut.queue_of(r) == actors::finish_queue));
  accuse(r);
  BOOST_TEST((sut.queue_of(r) == actors::pool_suspects_queue));
  enter(r, "prepare");
  BOOST_TEST((sut.queue_of(r) == actors::pool_suspects_queue));
}

BOOST_FIXTURE_TEST_CASE(suspects_wait_for_recall_as_others_do, recall_rig) {
  auto& r = accept();
  route(r);
  enter(r, "recalled");
  accuse(r);
  BOOST_TEST((sut.queue_of(r) == actors::recall_queue));
}

BOOST_AUTO_TEST_CASE(policy_places_rows_and_suspects_wait_beside) {
  auto& r = accept();
  route(r);
  prepare(r);
  place_in(core::queue_id{7});
  BOOST_TEST((sut.queue_of(r) == core::queue_id{7}));
  accuse(r);
  BOOST_TEST((sut.queue_of(r) == actors::alone_queue(core::queue_id{7})));
}

BOOST_AUTO_TEST_CASE(bound_row_waits_for_its_variant) {
  auto& r = accept();
  route(r);
  r.course.prepare_for(two_steps);
  prepare(r);
  place_in(core::queue_id{7});
  BOOST_TEST((sut.queue_of(r) == queue(two_steps)));
  accuse(r);
  BOOST_TEST((sut.queue_of(r) == actors::alone_queue(queue(two_steps))));
}

BOOST_AUTO_TEST_CASE(random_queue_of_a_row_changes_only_when_it_moves) {
  std::vector<uint64_t> drawn;
  policy->placing = [&](const planning::decision_context& by) {
    drawn.push_back(by.random.next_u64());
    return core::queue_id{0};
  };
  auto& r = accept();
  route(r);
  prepare(r);
  sut.queue_of(r);
  of.requests.count_aside(r);
  sut.queue_of(r);
  of.requests.run(r);
  sut.queue_of(r);
  BOOST_TEST_REQUIRE(drawn.size() == 3u);
  BOOST_TEST(drawn[0] == drawn[1]);
  BOOST_TEST(drawn[0] != drawn[2]);
}

BOOST_AUTO_TEST_CASE(entry_of_a_row_has_what_queues_compare) {
  auto& r = accept([&](core::request& x) {
    x.tenant = ann;
    x.share = 3;
    x.prio = core::priority::high;
    x.deadline = now + 9s;
  });
  route(r);
  prepare(r);
  now += 1s;
  of.requests.wait(r, now);
  auto x = sut.entry_of(r);
  BOOST_TEST((x.request == id_of(r)));
  BOOST_TEST((x.tenant == ann));
  BOOST_TEST(x.share == 3u);
  BOOST_TEST((x.prio == core::priority::high));
  BOOST_TEST((x.since == now));
  BOOST_TEST((x.deadline == r.request->deadline));
  // Four steps, its text, its decoding and its encoding.
  BOOST_TEST((x.still_needs == 50ms));
  BOOST_TEST(!x.may_answer_best);
  r.course.end_leg(core::ec::none);
  BOOST_TEST(sut.entry_of(r).may_answer_best);
}

// -- a row for a worker -------------------------------------------------------

BOOST_AUTO_TEST_CASE(last_seat_is_closed_to_tenants_that_have_one_there) {
  auto& w = device_of(2, "quick", 8, 4);
  for (int i = 0; i < 6; ++i)
    draws_at(w, ann);
  BOOST_TEST(sut.closed_to(w, queue(four_steps)).empty());
  draws_at(w, ann);
  BOOST_TEST((sut.closed_to(w, queue(four_steps)) == tenants{ann}));
}

BOOST_AUTO_TEST_CASE(each_active_tenant_without_a_seat_has_one_left) {
  auto& w = device_of(2, "quick", 8, 4);
  for (int i = 0; i < 6; ++i)
    draws_at(w, ann);
  accept(ben);
  BOOST_TEST(sut.closed_to(w, queue(four_steps)).empty());
  accept(cid);
  BOOST_TEST((sut.closed_to(w, queue(four_steps)) == tenants{ann}));
}

BOOST_AUTO_TEST_CASE(preparing_is_closed_to_tenants_far_ahead) {
  const auto& preparing = pool(role::preprocess);
  ahead(ann, 3);
  BOOST_TEST(sut.closed_to(preparing, actors::prepare_queue).empty());
  ahead(ann, 1);
  BOOST_TEST((sut.closed_to(preparing, actors::prepare_queue) == tenants{ann}));
  BOOST_TEST(sut.closed_to(preparing, actors::recall_queue).empty());
  BOOST_TEST(
    sut.closed_to(pool(role::postprocess), actors::finish_queue).empty());
}

BOOST_AUTO_TEST_CASE(crowd_of_a_device_is_the_tenants_with_rows_there) {
  auto& w = device_of(2, "quick");
  draws_at(w, cid);
  draws_at(w, ann);
  draws_at(w);
  ahead(ben, 1);
  BOOST_TEST((sut.closed_to_crowd(w, {}) == tenants{ann, cid}));
  BOOST_TEST((sut.closed_to_crowd(w, {ann, ben}) == tenants{ann, ben, cid}));
}

BOOST_AUTO_TEST_CASE(crowd_of_a_pool_is_the_tenants_with_rows_ahead) {
  draws_at(device_of(2, "quick"), cid);
  ahead(ann, 1);
  ahead({}, 1);
  const auto& w = pool(role::preprocess);
  BOOST_TEST((sut.closed_to_crowd(w, {ben}) == tenants{ann, ben}));
}

BOOST_AUTO_TEST_CASE(work_ahead_of_devices_is_bounded) {
  BOOST_TEST(matching::is_bounded(pool(role::preprocess)));
  BOOST_TEST(matching::is_bounded(pool(role::recall)));
  BOOST_TEST(!matching::is_bounded(pool(role::postprocess)));
  BOOST_TEST(!matching::is_bounded(device_of(2, "quick")));
}

BOOST_AUTO_TEST_CASE(device_sees_as_many_rows_as_its_batch_has) {
  auto& w = device_of(2, "quick", 8, 2);
  waits_to_draw();
  waits_to_draw(ann);
  waits_to_draw();
  BOOST_TEST(next(w).size() == 2u);
  BOOST_TEST(
    (ids(next(w, {core::tenant_id{}})) == requests{{core::request_id{2}}}));
}

BOOST_AUTO_TEST_CASE(pool_sees_one_row_unless_slots_are_shared) {
  auto& w = pool(role::preprocess);
  for (int i = 0; i < 5; ++i)
    waits_to_prepare();
  BOOST_TEST(next(w).size() == 1u);
  ahead({}, 1);
  BOOST_TEST(next(w).size() == 1u);
  ahead(ann, 1);
  BOOST_TEST(next(w).size() == actors::looked_at);
}

BOOST_AUTO_TEST_CASE(pool_sees_several_rows_while_one_awaits_images) {
  auto& w = pool(role::preprocess);
  const auto& first = waits_to_prepare();
  waits_to_prepare();
  of.slots.wait_for_images(id_of(first), 2);
  BOOST_TEST(next(w).size() == 2u);
}

BOOST_AUTO_TEST_CASE(rows_are_not_prepared_far_ahead_of_devices) {
  auto& w = pool(role::preprocess);
  waits_to_prepare();
  // Two seats, of which twice as many rows may be ahead, but at least four; a
  // tenant without rows ahead gets one more.
  ahead({}, 3);
  BOOST_TEST(next(w).size() == 1u);
  ahead({}, 1);
  BOOST_TEST(next(w).empty());
  auto& finished = accept();
  route(finished);
  enter(finished, "finish");
  wait(finished);
  BOOST_TEST(next(pool(role::postprocess)).size() == 1u);
}

BOOST_AUTO_TEST_CASE(row_waits_for_the_kind_that_alone_meets_its_deadline) {
  auto& slow = device_of(2, "slow");
  auto& quick = device_of(3, "quick");
  measure(four_steps, quick);
  const auto due = [&](core::timespan left) {
    of.queues.remove(core::request_id{last_id});
    waits_to_draw([&](core::request& x) { x.deadline = now + left; });
    return next(slow).size();
  };
  // It takes the slow kind 410 ms, and the quick one 50 ms.
  BOOST_TEST(due(409ms) == 0u);
  BOOST_TEST(next(quick).size() == 1u);
  BOOST_TEST(due(410ms) == 1u);
  BOOST_TEST(due(50ms) == 0u);
  BOOST_TEST(due(49ms) == 1u);
}

BOOST_AUTO_TEST_CASE(row_waits_for_no_quicker_kind_on_a_guess) {
  auto& slow = device_of(2, "slow");
  device_of(3, "quick");
  waits_to_draw([&](core::request& x) { x.deadline = now + 100ms; });
  BOOST_TEST(next(slow).size() == 1u);
}

BOOST_AUTO_TEST_CASE(row_in_a_workers_own_queue_waits_for_no_other) {
  auto& slow = device_of(2, "slow");
  measure(four_steps, device_of(3, "quick"));
  place_in(planning::queue_of(slow.id()));
  waits_to_draw([&](core::request& x) { x.deadline = now + 100ms; });
  BOOST_TEST(next(slow).size() == 1u);
}

BOOST_AUTO_TEST_CASE(time_that_a_row_needs_is_that_at_the_worker) {
  auto& w = device_of(2, "quick", 8, 1);
  measure(four_steps, w);
  draws_at(w);
  waits_to_draw([&](core::request& x) { x.deadline = now + 1s; });
  // The running row's four steps come first.
  const auto rows = next(w);
  BOOST_TEST_REQUIRE(rows.size() == 1u);
  BOOST_TEST((rows.front().still_needs == 90ms));
  join(w, joining::single);
  BOOST_TEST((next(w).front().still_needs == 50ms));
}

BOOST_FIXTURE_TEST_CASE(rows_under_way_continue_in_their_turn, two_leg_rig) {
  auto& w = device_of(2, "quick");
  waits_to_prepare();
  auto& first = waits_to_draw();
  auto& second = between_legs();
  requests asked;
  const auto all = [&](core::request_id id) {
    asked.push_back(id);
    return false;
  };
  BOOST_TEST(!sut.any_under_way(w.host.queues(), w, all));
  BOOST_TEST((asked == requests{id_of(first), id_of(second)}));
  BOOST_TEST(sut.any_under_way(w.host.queues(), w,
                               [&](auto id) { return id == id_of(first); }));
  // While anything runs, rows in their first leg wait for their turn.
  const auto running = draws_at(w);
  asked.clear();
  BOOST_TEST(!sut.any_under_way(w.host.queues(), w, all));
  BOOST_TEST((asked == requests{id_of(second)}));
  // Work beside the path is no such turn.
  of.orders.abandon(running);
  asked.clear();
  sut.any_under_way(w.host.queues(), w, all);
  BOOST_TEST(asked.size() == 2u);
}

BOOST_AUTO_TEST_CASE(rows_under_way_wait_for_no_turn_at_pools) {
  draws_at(device_of(2, "quick"));
  waits_to_prepare();
  auto& r = accept();
  route(r);
  prepare(r);
  enter(r, "prepare");
  wait(r);
  auto& w = pool(role::preprocess);
  requests asked;
  sut.any_under_way(w.host.queues(), w, [&](core::request_id id) {
    asked.push_back(id);
    return false;
  });
  BOOST_TEST((asked == requests{id_of(r)}));
}

BOOST_AUTO_TEST_SUITE_END()
