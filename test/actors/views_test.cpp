// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/queue_ids.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using planning::worker_row;
using test::parts_rig;

constexpr core::variant_id four_steps{0};
constexpr core::variant_id two_steps{1};

struct rig : parts_rig {
  rig() : w(device(2)) {}

  actors::views& sut = of.views;
  actors::worker& w;

  planning::worker_view view() const {
    planning::worker_view x;
    of.views.write(x, w);
    return x;
  }

  // An edit that computes half of its image, on a route from its template.
  actors::row& edit() {
    auto& r = accept(&parts_rig::bring_image);
    planning::facts found;
    found.mask.emplace().ratio = 0.5;
    r.course.learn(std::move(found));
    route(r);
    BOOST_REQUIRE(r.course.take_mask());
    prepare(r);
    return r;
  }
};

struct edit_rig : rig {
  edit_rig() {
    follow([](planning::plan& x) {
      x.routes[0].legs[0].from = planning::origin::template_image;
    });
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(views_test, rig)

BOOST_AUTO_TEST_CASE(devices_that_policies_may_use_are_seen) {
  pool(actors::role::preprocess);
  of.workers.suspect(device(3));
  auto& slow = device(4);
  of.workers.set_slow(slow, true);
  const auto& seen = sut.cluster().workers;
  BOOST_TEST_REQUIRE(seen.size() == 1u);
  BOOST_TEST((seen.front().worker == w.id()));
  // A slow one is seen where no other is left.
  of.workers.suspect(w);
  BOOST_TEST_REQUIRE(sut.cluster().workers.size() == 1u);
  BOOST_TEST((sut.cluster().workers.front().worker == slow.id()));
}

BOOST_AUTO_TEST_CASE(change_of_a_worker_is_seen_when_it_is_marked) {
  sut.cluster();
  draws_at(w);
  BOOST_TEST(sut.cluster().workers.front().seats_taken == 1u);
  BOOST_TEST(sut.cluster().workers.front().seats_free == 3u);
  BOOST_TEST(sut.cluster().workers.front().steps_left == 4u);
  w.seat.ran(1);
  BOOST_TEST(sut.cluster().workers.front().steps_left == 4u);
  of.workers.view_changed(w);
  BOOST_TEST(sut.cluster().workers.front().steps_left == 3u);
}

BOOST_AUTO_TEST_CASE(forecast_sees_the_workers_that_policies_see) {
  sut.cluster();
  auto& r = waits_to_draw();
  measure(four_steps, w);
  const auto wait = [&] {
    return of.forecast.wait_beyond(four_steps, core::timespan{0});
  };
  const auto alone = wait();
  BOOST_TEST_REQUIRE(alone.has_value());
  device(3);
  BOOST_TEST((wait() == alone));
  sut.cluster();
  BOOST_TEST((wait() == *alone / 2));
  of.forecast.uncount(id_of(r));
}

BOOST_AUTO_TEST_CASE(variants_that_run_are_listed_once_and_by_number) {
  draws_at(w, {}, core::route_id{two_steps.value});
  draws_at(w, {}, core::route_id{four_steps.value});
  draws_at(w, {}, core::route_id{two_steps.value});
  BOOST_TEST((view().running == std::vector{four_steps, two_steps}));
}

BOOST_AUTO_TEST_CASE(rows_are_listed_from_the_first_mask_on) {
  draws_at(w);
  BOOST_TEST(view().rows.empty());
  BOOST_TEST(sut.list_rows());
  BOOST_TEST(!sut.list_rows());
  BOOST_TEST(view().rows.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(running_rows_come_before_those_of_its_own_queues,
                        edit_rig) {
  sut.list_rows();
  auto& masked = edit();
  wait(masked);
  const auto who = run(masked, w);
  draws_at(w, {}, core::route_id{two_steps.value});
  const auto own = planning::queue_of(w.id());
  // A row of the queue that all its hosts serve is not the worker's.
  waits_to_draw();
  place_in(actors::alone_queue(own));
  waits_to_draw();
  place_in(own);
  auto& waits_masked = edit();
  wait(waits_masked);
  const uint64_t all = actors::steps_left(waits_masked);
  BOOST_TEST_REQUIRE(all > 1u);
  using rows = std::vector<worker_row>;
  BOOST_TEST((
    view().rows
    == rows{{0.5, all, true}, {1, 2, true}, {0.5, all, false}, {1, 4, false}}));
  of.orders.progress(who, 1);
  BOOST_TEST((view().rows.front() == worker_row{0.5, all - 1, true}));
  // More steps than it has are none left.
  of.orders.progress(who, 9);
  BOOST_TEST((view().rows.front() == worker_row{0.5, 0, true}));
}

BOOST_AUTO_TEST_SUITE_END()
