// SPDX-License-Identifier: Apache-2.0

// How orders end. losses_rows_test has rows whose order has no result,
// losses_orders_test has orders without an answer, losses_deaths_test has
// deaths.

#include "actors/losses_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::alone_queue;
using actors::concluded;
using actors::loss;
using actors::role;
using actors::row_state;
using core::ec;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_2;
using test::card_4;

constexpr core::tenant_id ann{1};

const core::error gone = core::fail(ec::unavailable, "gone");
const core::error broken = core::fail(ec::internal, "broken");

struct rig : test::losses_rig {
  using losses_rig::losses_rig;

  actors::losses& sut = losses;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(losses_test, rig)

BOOST_AUTO_TEST_CASE(failures_of_a_place_are_tried_again) {
  for (const auto code : {ec::unavailable, ec::out_of_resources, ec::io_failed,
                          ec::incompatible, ec::cancelled})
    BOOST_TEST(actors::worth_retrying(code));
  for (const auto code :
       {ec::none, ec::invalid_argument, ec::bad_payload, ec::not_found,
        ec::overloaded, ec::deadline_missed, ec::bad_config, ec::poison,
        ec::stopping, ec::internal})
    BOOST_TEST(!actors::worth_retrying(code));
}

// -- the end of an order ------------------------------------------------------

BOOST_AUTO_TEST_CASE(order_that_ends_frees_its_seat) {
  auto& w = device(2);
  const auto who = draws_at(w, ann);
  w.batch.report({who});
  const auto slots = of.slots.of(who);
  const auto x = sut.conclude(who, now);
  BOOST_TEST_REQUIRE(x.has_value());
  BOOST_TEST((x->worker == w.id()));
  BOOST_TEST((x->slots.granted == slots.granted));
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(w.seat.steps_left() == 0u);
  BOOST_TEST(w.batch.rows().empty());
  BOOST_TEST(offers(w, queue_of(card_4)));
  BOOST_TEST(of.orders.empty());
  BOOST_TEST(of.slots.dispatches() == 0u);
  // What it wrote belongs to its row now.
  BOOST_TEST(of.slots.keeper().census(slot_kind::state).granted == 0u);
  BOOST_TEST(counts().stale_replies == 0u);
}

BOOST_AUTO_TEST_CASE(end_of_an_unknown_order_is_stale) {
  auto& w = device(2);
  const auto who = draws_at(w);
  BOOST_TEST(!sut.conclude({who.id, who.attempt + 1}, now).has_value());
  BOOST_TEST(w.seat.taken() == 1u);
  BOOST_TEST(counts().stale_replies == 1u);
}

BOOST_AUTO_TEST_CASE(end_of_an_order_is_a_sign_of_life_or_is_not) {
  auto& w = device(2);
  w.signs.begin(out.running_time(now));
  const auto silent = [&](bool sign) {
    const auto who = draws_at(w);
    now += 400ms;
    BOOST_REQUIRE(sut.conclude(who, now, sign));
    return w.signs.unexplained(out.running_time(now)).has_value();
  };
  BOOST_TEST(!silent(true));
  BOOST_TEST(silent(false));
}

BOOST_AUTO_TEST_CASE(row_that_was_prepared_is_no_longer_counted_ahead) {
  auto& w = pool(role::preprocess);
  const auto ahead_after = [&](bool side) {
    const auto who = prepares_at(w, ann);
    if (side)
      of.orders.abandon(who);
    BOOST_REQUIRE(sut.conclude(who, now));
    return of.requests.has_ahead(ann);
  };
  BOOST_TEST(!ahead_after(false));
  BOOST_TEST(ahead_after(true));
}

BOOST_AUTO_TEST_CASE(worker_loads_when_its_last_row_has_ended) {
  for (auto& v : profile->variants)
    v.load = 1s;
  auto& w = lighter(2);
  const auto first = draws_at(w, {}, core::route_id{1});
  const auto last = draws_at(w, {}, core::route_id{1});
  planning::assignment x;
  x.hosting = {card_4};
  of.hosting.apply(w, x, {}, now);
  BOOST_REQUIRE(sut.conclude(first, now));
  BOOST_TEST(take_sent<actors::adopt>().empty());
  BOOST_REQUIRE(sut.conclude(last, now));
  const auto orders = take_sent<actors::adopt>();
  BOOST_TEST_REQUIRE(orders.size() == 1u);
  BOOST_TEST((orders[0].hosting == std::vector{card_4}));
  BOOST_TEST(counts().loads == 1u);
}

BOOST_AUTO_TEST_CASE(trial_ends_at_all_workers_that_were_kept_for_it) {
  auto& preparing = serving_pool(role::preprocess, 1);
  auto& finishing = serving_pool(role::postprocess, 1);
  const auto who = run(waits_to_prepare(), preparing, true);
  of.requests.count_ahead({}, true);
  for (auto* w : {&preparing, &finishing}) {
    w->trial.begin();
    out.offer(*w);
  }
  BOOST_REQUIRE(sut.conclude(who, now));
  BOOST_TEST(!preparing.trial.exclusive());
  BOOST_TEST(!finishing.trial.exclusive());
  BOOST_TEST(offers(preparing, actors::prepare_queue));
  BOOST_TEST(offers(finishing, actors::finish_queue));
}

BOOST_AUTO_TEST_CASE(order_beside_a_trial_does_not_end_it) {
  auto& w = device(2);
  const auto who = draws_at(w);
  w.trial.begin();
  BOOST_REQUIRE(sut.conclude(who, now));
  BOOST_TEST(w.trial.exclusive());
}

BOOST_AUTO_TEST_CASE(suspects_of_a_worker_are_looked_at_when_an_order_ends) {
  auto& w = device(2);
  auto& suspect = waits_to_draw();
  waiting.leave(id_of(suspect), suspect, now);
  accuse(suspect);
  const auto after = [&] {
    const auto who = draws_at(w);
    looked_at();
    BOOST_REQUIRE(sut.conclude(who, now));
    return looked_at();
  };
  BOOST_TEST(after().empty());
  wait(suspect);
  BOOST_TEST((after() == std::vector{alone_queue(queue_of(card_4))}));
  // A worker may be draining for a suspect that left.
  waiting.leave(id_of(suspect), suspect, now);
  w.trial.drain();
  BOOST_TEST(after().size() == w.host.queues().size());
}

BOOST_AUTO_TEST_CASE(suspects_of_pools_are_looked_at_when_a_pool_is_empty) {
  auto& classifier = pool(role::classifier);
  const auto after = [&] {
    const auto who = run(waits_to_prepare(), classifier);
    of.requests.count_ahead({}, true);
    looked_at();
    BOOST_REQUIRE(sut.conclude(who, now));
    return looked_at();
  };
  BOOST_TEST(after().empty());
  classifier.trial.drain();
  BOOST_TEST((after() == std::vector{actors::pool_suspects_queue}));
}

BOOST_AUTO_TEST_CASE(worker_has_a_track_while_a_timeline_is_drawn) {
  BOOST_TEST(!sut.track(device(2).id()).has_value());
  rig drawn{20, std::make_shared<test::recording_timeline>()};
  const auto& w = drawn.device(2);
  BOOST_TEST_REQUIRE(drawn.sut.track(w.id()).has_value());
  BOOST_TEST(drawn.sut.track(w.id())->device == "cpu");
  BOOST_TEST(!drawn.sut.track(core::worker_id{99}).has_value());
}

BOOST_AUTO_TEST_CASE(dispatch_that_ended_is_drawn_with_its_reason) {
  const auto into = std::make_shared<test::recording_timeline>();
  rig x{20, into};
  const auto who = x.draws_at(x.device(2));
  into->all.clear();
  x.sut.note_returned(who.id, x.of.orders.at(who), gone, x.now);
  BOOST_TEST_REQUIRE(into->all.size() == 1u);
  BOOST_TEST(into->all[0].name == "denoise");
  BOOST_TEST((into->all[0].request == who.id));
  BOOST_TEST(into->all[0].texts.at(0).second == "cpu");
  BOOST_TEST(into->all[0].texts.at(1).first == "failed");
}

BOOST_AUTO_TEST_SUITE_END()
