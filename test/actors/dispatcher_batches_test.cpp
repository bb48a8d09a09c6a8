// SPDX-License-Identifier: Apache-2.0

// The variants by which rows go to devices, and their batches.

#include "actors/layers_rig.hpp"
#include "actors/matching_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::role;
using planning::joining;
using planning::queue_of;
using test::card_2;
using test::card_4;
using test::layers_rig;

using requests = std::vector<core::request_id>;
using variants = std::vector<core::variant_id>;

constexpr core::variant_id other_model{2};

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

  // Makes rows join a device's batches in this way.
  void join(actors::worker& w, joining how) {
    planning::assignment x;
    x.batch = 4;
    x.join = how;
    of.hosting.apply(w, x, {}, now);
    out.offer(w);
  }

  actors::dispatcher& sut = dispatcher;
};

// The third variant is one of another model.
struct grouped_rig : rig {
  grouped_rig() : rig(with()) {
    follow([](planning::plan& x) { x.grouped = true; });
  }

  static options with() {
    options o;
    o.slots = {64, 64, 0};
    o.profile = test::matching_profile();
    return o;
  }

  actors::worker& offering(uint32_t process) {
    return serving(process, [](actors::worker_ready& x) {
      x.variants = {"card@4", "card@2", "other"};
    });
  }

  actors::row& waits_for(core::variant_id v) {
    return waits_to_draw([](core::request&) {}, core::route_id{v.value});
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(dispatcher_batches_test, rig)

// -- variants -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_is_prepared_anew_for_its_workers_variant) {
  profile->variants[card_2.value].latent_channels = 16;
  follow([](planning::plan& x) {
    x.routes[0].legs[0].any_of = {card_4, card_2};
  });
  auto& w = lighter(2);
  place_in(queue_of(w.id()));
  auto& r = waits_to_draw();
  pump();
  BOOST_TEST(sent().empty());
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST((r.course.recipe().variant == card_2));
  BOOST_TEST(r.course.is_bound());
}

BOOST_AUTO_TEST_CASE(row_leaves_the_queue_of_the_variant_that_it_waited_for) {
  follow([](planning::plan& x) {
    x.routes[0].legs[0].any_of = {card_4, card_2};
  });
  auto& w = lighter(2);
  place_in(queue_of(w.id()));
  auto& r = waits_to_draw();
  pump();
  BOOST_TEST((of.orders.at({id_of(r), r.attempt()}).variant == card_2));
  BOOST_TEST(counts().waiting.at(card_4.value) == 0u);
  BOOST_TEST(counts().waiting.at(card_2.value) == 0u);
}

BOOST_AUTO_TEST_CASE(variant_without_a_host_is_reported) {
  lighter(2);
  auto& r = waits_to_draw();
  pump();
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST((reports()[0].unhosted == variants{card_4}));
  BOOST_TEST((queue(r) == queue_of(card_4)));
  of.queues.touch(queue_of(card_4));
  pump();
  BOOST_TEST(reports().size() == 1u);
  // Hosts are sought anew after a change.
  of.hosting.changed();
  pump();
  BOOST_TEST(reports().size() == 2u);
}

BOOST_AUTO_TEST_CASE(leg_that_no_device_can_load_ends) {
  auto& w = lighter(2);
  auto& r = waits_to_draw();
  fail_to_load(w, card_4);
  const auto id = id_of(r);
  pump();
  BOOST_TEST((only_answer().request->id == id));
  BOOST_TEST(reports().empty());
}

BOOST_AUTO_TEST_CASE(pool_without_a_worker_is_no_lack_of_a_host) {
  serving(2);
  waits_to_prepare();
  pump();
  BOOST_TEST(reports().empty());
}

// -- grouped plans ------------------------------------------------------------

BOOST_FIXTURE_TEST_CASE(row_of_another_model_waits_under_a_grouped_plan,
                        grouped_rig) {
  auto& w = offering(2);
  draws_at(w);
  out.offer(w);
  auto& r = waits_for(other_model);
  pump();
  BOOST_TEST((queue(r) == queue_of(other_model)));
  // The planner sees that it found no seat.
  BOOST_TEST_REQUIRE(reports().size() == 1u);
  BOOST_TEST(reports()[0].unhosted.empty());
  BOOST_TEST(reports()[0].waiting.at(other_model.value) == 1u);
}

BOOST_FIXTURE_TEST_CASE(rows_without_a_seat_are_reported_under_a_grouped_plan,
                        grouped_rig) {
  auto& w = offering(2);
  for (int i = 0; i < 4; ++i)
    draws_at(w);
  out.offer(w);
  waits_for(card_4);
  pump();
  BOOST_TEST(reports().size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(row_joins_its_model_before_the_turn_of_another,
                        grouped_rig) {
  auto& w = offering(2);
  draws_at(w);
  out.offer(w);
  // It is first, and has time until the others have ended.
  auto& other = waits_to_draw([&](core::request& x) { x.deadline = now + 10s; },
                              core::route_id{other_model.value});
  auto& r = waits_for(card_2);
  pump();
  BOOST_TEST((sent() == requests{id_of(r)}));
  BOOST_TEST((queue(other) == queue_of(other_model)));
}

BOOST_FIXTURE_TEST_CASE(rows_of_a_workers_own_queue_are_not_grouped,
                        grouped_rig) {
  auto& w = offering(2);
  draws_at(w);
  out.offer(w);
  place_in(queue_of(w.id()));
  auto& r = waits_for(other_model);
  pump();
  BOOST_TEST((sent() == requests{id_of(r)}));
}

// -- batches ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(whole_batch_is_sent_at_the_end_of_its_event) {
  auto& w = serving(2);
  join(w, joining::whole_batch);
  waits_to_draw();
  waits_to_draw();
  pump();
  const auto orders = take_sent<denoise>();
  BOOST_TEST_REQUIRE(orders.size() == 2u);
  BOOST_TEST(orders[0].more);
  BOOST_TEST(!orders[1].more);
  BOOST_TEST(!offers(w, queue_of(card_4)));
  // No row joins it later.
  auto& later = waits_to_draw();
  pump();
  BOOST_TEST((queue(later) == queue_of(card_4)));
}

BOOST_AUTO_TEST_CASE(single_rows_are_sent_one_by_one) {
  auto& w = serving(2);
  join(w, joining::single);
  waits_to_draw();
  waits_to_draw();
  pump();
  const auto orders = take_sent<denoise>();
  BOOST_TEST_REQUIRE(orders.size() == 1u);
  BOOST_TEST(!orders[0].more);
}

BOOST_AUTO_TEST_CASE(rows_that_join_at_any_step_are_not_held_for_others) {
  serving(2);
  waits_to_draw();
  waits_to_draw();
  pump();
  for (const auto& x : take_sent<denoise>())
    BOOST_TEST(!x.more);
}

BOOST_AUTO_TEST_SUITE_END()
