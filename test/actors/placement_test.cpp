// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/endings.hpp>
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/actors/scheduler/placement.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/routing.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::adopt;
using planning::queue_of;
using test::parts_rig;

using variants = std::vector<core::variant_id>;

constexpr core::variant_id four_steps{0};
constexpr core::variant_id two_steps{1};

// A variant takes a second to load.
struct rig : parts_rig {
  rig()
    : routes(of),
      beside(of, out),
      ends(of, out, waiting, beside),
      rows(of, waiting, routes, beside, ends),
      sut(of, out, waiting, rows) {
    for (auto& v : profile->variants)
      v.load = 1s;
  }

  // A device that hosts only the second variant.
  actors::worker& lighter(uint32_t process) {
    return device(process,
                  [](actors::worker_ready& x) { x.variants = {"card@2"}; });
  }

  // Follows a plan in which these workers host these variants.
  bool follow_plan(const std::vector<std::pair<core::worker_id, variants>>& all,
                   bool grouped = false) {
    follow([&](planning::plan& x) {
      x.grouped = grouped;
      for (const auto& [id, hosting] : all) {
        planning::assignment a;
        a.worker = id;
        a.hosting = hosting;
        a.batch = 4;
        x.workers.push_back(a);
      }
    });
    return sut.follow_plan(now);
  }

  bool adopted(const actors::worker& w, uint32_t number) {
    actors::adopted x;
    x.worker = w.address;
    x.number = number;
    return sut.on(x, now);
  }

  std::vector<core::queue_id> looked_at() {
    std::vector<core::queue_id> all;
    while (const auto queue = of.queues.next())
      all.push_back(*queue);
    return all;
  }

  actors::row& waits_for(core::variant_id v) {
    return waits_to_draw([](core::request&) {}, core::route_id{v.value});
  }

  actors::routing routes;
  actors::asides beside;
  actors::endings ends;
  actors::lifecycle rows;
  actors::placement sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(placement_test, rig)

// -- plans and loads ----------------------------------------------------------

BOOST_AUTO_TEST_CASE(plan_is_reported_if_hosting_changes_without_a_load) {
  auto& w = device(2);
  BOOST_TEST(!follow_plan({}));
  BOOST_TEST(!follow_plan({{w.id(), {four_steps, two_steps}}}));
  BOOST_TEST(!follow_plan({{core::worker_id{99}, {two_steps}}}));
  BOOST_TEST(follow_plan({{w.id(), {two_steps}}}));
  BOOST_TEST((w.host.hosting() == variants{two_steps}));
}

BOOST_AUTO_TEST_CASE(load_is_reported_when_it_ends) {
  auto& w = lighter(2);
  measure(four_steps, w);
  waits_for(four_steps);
  BOOST_TEST(!follow_plan({{w.id(), {four_steps}}}));
  const auto orders = take_sent<adopt>();
  BOOST_TEST_REQUIRE(orders.size() == 1u);
  BOOST_TEST((orders.front().hosting == variants{four_steps}));
  BOOST_TEST(of.records.counts().loads == 1u);
  BOOST_TEST(reports().empty());
  now += 3s;
  BOOST_TEST(adopted(w, orders.front().number));
  BOOST_TEST((w.host.hosting() == variants{four_steps}));
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST((reports()[0].workers.at(0).hosting == variants{four_steps}));
  BOOST_TEST(!of.queues.offered(queue_of(four_steps)).empty());
  BOOST_TEST(of.hosting.take_change());
  BOOST_TEST(of.forecast.wait_beyond(four_steps, 0s).has_value());
  // The time of the load is measured.
  const auto costs = of.forecast.cost_news();
  BOOST_TEST_REQUIRE(costs.has_value());
  BOOST_TEST((costs->at(0).costs.at(0).load == 3s));
}

BOOST_AUTO_TEST_CASE(loads_under_way_are_reported_if_the_next_plan_needs_them) {
  auto& w = lighter(2);
  BOOST_TEST(follow_plan({{w.id(), {four_steps}}}, true));
  BOOST_TEST(!follow_plan({{w.id(), {four_steps}}}, true));
}

BOOST_AUTO_TEST_CASE(plan_keeps_what_running_rows_need) {
  auto& w = device(2, [](actors::worker_ready& x) {
    x.variants = {"card@2"};
    x.loads_beside = true;
  });
  draws_at(w, {}, core::route_id{four_steps.value});
  follow_plan({{w.id(), {four_steps, two_steps}}});
  const auto orders = take_sent<adopt>();
  BOOST_TEST_REQUIRE(orders.size() == 1u);
  BOOST_TEST((orders.front().keep == variants{two_steps, four_steps}));
}

BOOST_AUTO_TEST_CASE(answer_to_an_earlier_order_is_stale) {
  auto& w = lighter(2);
  follow_plan({{w.id(), {four_steps}}});
  const auto number = w.host.last_order();
  BOOST_TEST(!adopted(w, number - 1));
  BOOST_TEST(of.records.counts().stale_replies == 1u);
  actors::adopted stranger;
  stranger.worker = {life(9), actors::role::denoise_step, 0};
  BOOST_TEST(!sut.on(stranger, now));
  BOOST_TEST(of.records.counts().stale_replies == 2u);
  BOOST_TEST(adopted(w, number));
  BOOST_TEST(!adopted(w, number));
  BOOST_TEST(of.records.counts().stale_replies == 2u);
}

BOOST_AUTO_TEST_CASE(answer_to_an_order_is_a_sign_of_life) {
  auto& w = lighter(2);
  follow_plan({{w.id(), {four_steps}}});
  w.signs.begin(out.running_time(now));
  now += 400ms;
  adopted(w, w.host.last_order());
  BOOST_TEST(!w.signs.unexplained(out.running_time(now)).has_value());
}

BOOST_AUTO_TEST_CASE(change_of_hosting_is_carried_out) {
  auto& w = device(2);
  of.views.cluster();
  w.trial.drain();
  place_in(queue_of(w.id()));
  const auto& r = waits_to_draw();
  place_in(queue_of(two_steps));
  actors::hosting::change x;
  x.ends_drain = true;
  x.orders = {adopt{}, adopt{}};
  x.loads = 2;
  x.rehome = true;
  x.report = true;
  sut.follow(x, w, now);
  BOOST_TEST(!w.trial.draining());
  BOOST_TEST(take_sent<adopt>().size() == 2u);
  BOOST_TEST(of.records.counts().loads == 2u);
  BOOST_TEST((of.queues.where(id_of(r)) == queue_of(two_steps)));
  BOOST_TEST(!of.queues.offered(queue_of(w.id())).empty());
  BOOST_TEST(reports().size() == 1u);
  BOOST_TEST(!of.hosting.take_change());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(change_of_nothing_does_nothing_but_an_offer) {
  auto& w = device(2);
  w.trial.drain();
  place_in(queue_of(w.id()));
  const auto& r = waits_to_draw();
  place_in(queue_of(two_steps));
  sut.follow({}, w, now);
  BOOST_TEST(w.trial.draining());
  BOOST_TEST(take_sent<adopt>().empty());
  BOOST_TEST((of.queues.where(id_of(r)) == queue_of(w.id())));
  BOOST_TEST(reports().empty());
}

// -- queues without a host ----------------------------------------------------

BOOST_AUTO_TEST_CASE(waiting_rows_are_looked_at_after_a_change_of_hosting) {
  waits_for(two_steps);
  auto& suspect = accept();
  route(suspect);
  prepare(suspect);
  accuse(suspect);
  wait(suspect);
  waits_to_prepare();
  looked_at();
  sut.look_anew();
  BOOST_TEST(looked_at().empty());
  of.hosting.changed();
  sut.look_anew();
  BOOST_TEST((looked_at()
              == std::vector{queue_of(two_steps),
                             actors::alone_queue(queue_of(four_steps))}));
  sut.look_anew();
  BOOST_TEST(looked_at().empty());
}

BOOST_AUTO_TEST_CASE(slow_worker_offers_anew_after_a_change_of_hosting) {
  auto& slow = device(2);
  of.workers.set_slow(slow, true);
  auto& other = device(3);
  out.offer(slow);
  BOOST_TEST(of.queues.offered(queue_of(two_steps)).empty());
  of.workers.suspect(other);
  sut.look_anew();
  BOOST_TEST(of.queues.offered(queue_of(two_steps)).empty());
  of.hosting.changed();
  sut.look_anew();
  BOOST_TEST(!of.queues.offered(queue_of(two_steps)).empty());
}

BOOST_AUTO_TEST_CASE(variant_without_a_host_is_reported_once) {
  auto& w = lighter(2);
  waits_for(four_steps);
  const auto reported = [&](core::queue_id queue) {
    reports().clear();
    sut.look_for_host(queue);
    sut.tell_waiting();
    return reports().empty() ? variants{} : reports().front().unhosted;
  };
  BOOST_TEST(reported(queue_of(two_steps)).empty());
  BOOST_TEST(reported(queue_of(w.id())).empty());
  BOOST_TEST(reported(queue_of(core::worker_id{99})).empty());
  BOOST_TEST((reported(queue_of(four_steps)) == variants{four_steps}));
  BOOST_TEST(reports().front().waiting.at(0) == 1u);
  BOOST_TEST(reported(queue_of(four_steps)).empty());
  of.hosting.changed();
  sut.look_anew();
  BOOST_TEST((reported(queue_of(four_steps)) == variants{four_steps}));
}

BOOST_AUTO_TEST_CASE(variant_that_a_device_will_host_or_serves_has_a_host) {
  auto& w = lighter(2);
  const auto is_missing = [&] {
    of.hosting.changed();
    sut.look_anew();
    reports().clear();
    sut.look_for_host(queue_of(four_steps));
    sut.tell_waiting();
    return !reports().empty();
  };
  BOOST_TEST(is_missing());
  planning::assignment serves;
  serves.also_serves = {queue_of(four_steps)};
  of.hosting.apply(w, serves, {}, now);
  BOOST_TEST(!is_missing());
  of.hosting.apply(w, {}, {}, now);
  BOOST_TEST(is_missing());
  planning::assignment loads;
  loads.hosting = {four_steps};
  of.hosting.apply(w, loads, {}, now);
  BOOST_TEST(!is_missing());
  of.workers.suspect(w);
  lighter(3);
  BOOST_TEST(is_missing());
}

BOOST_AUTO_TEST_CASE(no_variant_is_missing_while_no_device_is_there) {
  pool(actors::role::preprocess);
  of.workers.suspect(lighter(2));
  sut.look_for_host(queue_of(four_steps));
  sut.tell_waiting();
  BOOST_TEST(reports().empty());
}

BOOST_AUTO_TEST_CASE(missing_variants_are_reported_by_their_longest_wait) {
  const auto first = [&](auto wait_in_turn) {
    rig x;
    wait_in_turn(x);
    x.of.hosting.missing(four_steps);
    x.of.hosting.missing(two_steps);
    x.sut.tell_waiting();
    BOOST_REQUIRE_EQUAL(x.reports().size(), 1u);
    return x.reports().front().unhosted.front();
  };
  const auto in_turn = [](rig& x, core::variant_id before) {
    x.waits_for(before);
    x.now += 1s;
    x.waits_for(four_steps);
    x.waits_for(two_steps);
  };
  const auto with_a_late_first = [](rig& x) {
    x.waits_for(two_steps);
    x.now += 1s;
    x.waits_for(four_steps);
    x.now += 1s;
    auto& r = x.accept();
    x.route(r, core::route_id{two_steps.value});
    x.prepare(r);
    x.wait(r, actors::queues::end::front);
  };
  BOOST_TEST((first(with_a_late_first) == two_steps));
  BOOST_TEST((first([&](rig& x) { in_turn(x, two_steps); }) == two_steps));
  BOOST_TEST((first([&](rig& x) { in_turn(x, four_steps); }) == four_steps));
}

BOOST_AUTO_TEST_CASE(rows_without_a_seat_are_reported_under_a_grouped_plan) {
  follow([](planning::plan& x) { x.grouped = true; });
  waits_for(four_steps);
  of.hosting.crowded();
  sut.tell_waiting();
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST(reports().front().unhosted.empty());
  // The planner knows already that as many wait.
  of.hosting.crowded();
  sut.tell_waiting();
  BOOST_TEST(reports().size() == 1u);
}

// -- variants that devices could not load -------------------------------------

BOOST_AUTO_TEST_CASE(load_is_tried_again_when_its_pause_is_over) {
  auto& w = lighter(2);
  fail_to_load(w, four_steps);
  follow_plan({{w.id(), {four_steps, two_steps}}});
  take_sent<adopt>();
  sut.retry_loads(now + 1s - 1ns);
  BOOST_TEST(take_sent<adopt>().empty());
  BOOST_TEST(reports().empty());
  sut.retry_loads(now + 1s);
  BOOST_TEST(w.host.unloadable().empty());
  const auto orders = take_sent<adopt>();
  BOOST_TEST_REQUIRE(orders.size() == 1u);
  BOOST_TEST((orders.front().hosting == variants{four_steps, two_steps}));
  BOOST_TEST(reports().size() == 1u);
}

BOOST_AUTO_TEST_CASE(load_is_tried_again_only_where_the_plan_wants_it) {
  auto& w = lighter(2);
  auto& other = lighter(3);
  fail_to_load(w, four_steps);
  follow_plan({{w.id(), {two_steps}}, {other.id(), {two_steps}}});
  take_sent<adopt>();
  sut.retry_loads(now + 1s);
  BOOST_TEST(take_sent<adopt>().empty());
  BOOST_TEST(reports().size() == 1u);
}

BOOST_AUTO_TEST_CASE(operators_wish_ends_the_pause_of_a_load) {
  auto& w = lighter(2);
  fail_to_load(w, four_steps);
  BOOST_TEST(!sut.on(actors::wish_hosting{{four_steps}, false}, now));
  BOOST_TEST(w.host.unloadable().size() == 1u);
  BOOST_TEST(sut.on(actors::wish_hosting{{two_steps}, true}, now));
  BOOST_TEST(w.host.unloadable().size() == 1u);
  BOOST_TEST(sut.on(actors::wish_hosting{{four_steps}, true}, now));
  BOOST_TEST(w.host.unloadable().empty());
}

BOOST_AUTO_TEST_CASE(leg_that_no_device_can_load_ends_with_the_reason) {
  auto& w = lighter(2);
  auto& r = waits_for(four_steps);
  auto& other = waits_for(two_steps);
  const auto id = id_of(r);
  BOOST_TEST(!sut.end_unloadable(queue_of(four_steps), now));
  fail_to_load(w, four_steps);
  BOOST_TEST(!sut.end_unloadable(queue_of(two_steps), now));
  BOOST_TEST(answers().empty());
  BOOST_TEST(sut.end_unloadable(queue_of(four_steps), now));
  BOOST_TEST_REQUIRE(answers().size() == 1u);
  BOOST_TEST((answers()[0].request->id == id));
  BOOST_TEST(answers()[0].failure.text.find("no such file")
             != std::string::npos);
  BOOST_TEST(of.queues.contains(id_of(other)));
  BOOST_TEST(!sut.end_unloadable(queue_of(four_steps), now));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
