// SPDX-License-Identifier: Apache-2.0

// Orders of workers in the control process, which cannot be replaced.

#include "actors/losses_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::row_state;
using core::ec;
using planning::held;
using planning::queue_of;
using test::card_4;

using tickets = std::vector<core::ticket>;

constexpr core::tenant_id ann{1};

struct rig : test::losses_rig {
  actors::losses& sut = losses;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(losses_abandoned_test, rig)

BOOST_AUTO_TEST_CASE(second_loss_in_the_control_process_fails_the_request) {
  auto& w = at_home(role::preprocess);
  auto who = prepares_at(w);
  auto& r = row_of(who);
  overdue();
  answer(who, false);
  BOOST_TEST_REQUIRE((queue(r) == actors::prepare_queue));
  who = prepares_again(r, w);
  overdue();
  answer(who, false);
  BOOST_TEST((only_answer().failure.code == ec::internal));
  BOOST_TEST(suspects().empty());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(request_continues_without_a_worker_that_says_nothing) {
  auto& w = at_home(role::preprocess);
  const auto who = prepares_at(w, ann);
  auto& r = row_of(who);
  overdue();
  BOOST_TEST((asked() == tickets{who}));
  BOOST_TEST((r.state() == row_state::running));
  overdue();
  BOOST_TEST(counts().orders_lost == 1u);
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(!of.requests.has_ahead(ann));
  // The worker may still write: its order keeps its seat and its slots.
  BOOST_TEST(of.orders.at(who).side);
  BOOST_TEST(w.seat.taken() == 1u);
  BOOST_TEST(bool(of.slots.of(who).granted[held::state]));
  BOOST_TEST(of.slots.in_use() == 1u);
  BOOST_TEST(check() == "");
  // It is not lost again, nor discounted when it ends.
  overdue();
  BOOST_TEST(counts().orders_lost == 1u);
  of.requests.count_ahead(ann, true);
  BOOST_REQUIRE(sut.conclude(who, now));
  BOOST_TEST(of.requests.has_ahead(ann));
}

BOOST_AUTO_TEST_CASE(worker_that_can_be_replaced_is_asked_again) {
  const auto who = prepares_at(pool(role::preprocess));
  overdue();
  overdue();
  BOOST_TEST((asked() == tickets{who, who}));
  BOOST_TEST(counts().orders_lost == 0u);
  BOOST_TEST((row_of(who).state() == row_state::running));
}

BOOST_AUTO_TEST_CASE(row_whose_order_is_abandoned_twice_fails) {
  auto& w = at_home(role::preprocess);
  auto who = prepares_at(w);
  auto& r = row_of(who);
  overdue();
  overdue();
  prepares_again(r, w);
  overdue();
  overdue();
  BOOST_TEST((only_answer().failure.code == ec::internal));
  BOOST_TEST(only_answer().failure.text == "preprocess 0 does not respond");
  BOOST_TEST(suspects().empty());
}

BOOST_AUTO_TEST_CASE(abandoned_drawing_leaves_the_row_its_old_state) {
  auto& w = at_home(role::denoise_step);
  const auto who = draws_at(w);
  auto& r = row_of(who);
  const auto state = r.held[held::state];
  publish(of.slots.of(who).granted[held::state], 3);
  overdue();
  overdue();
  BOOST_TEST((queue(r) == queue_of(card_4)));
  BOOST_TEST((r.held[held::state] == state));
  BOOST_TEST(r.held.steps() == 0u);
  BOOST_TEST(counts().legs_restarted == 0u);
  BOOST_TEST(of.slots.holds(state));
}

BOOST_AUTO_TEST_CASE(abandoned_drawing_that_published_begins_its_leg_anew) {
  auto& w = at_home(role::denoise_step);
  const auto who = draws_at(w);
  auto& r = row_of(who);
  publish(of.slots.of(who).granted[held::state], 3);
  of.slots.published(who);
  overdue();
  overdue();
  BOOST_TEST(counts().legs_restarted == 1u);
  BOOST_TEST((queue(r) == actors::prepare_queue));
  // What the device may still write stays.
  BOOST_TEST(bool(of.slots.of(who).granted[held::state]));
  BOOST_TEST(of.slots.in_use() == 2u);
}

BOOST_AUTO_TEST_CASE(question_is_not_abandoned) {
  auto& w = at_home(role::classifier);
  auto& r = accept();
  lifecycle.begin(id_of(r), r, now);
  for (int i = 0; i < 2; ++i) {
    pass(2500ms + 1ns);
    sut.ask_about_orders(now);
  }
  BOOST_TEST(asked().size() == 2u);
  BOOST_TEST((r.state() == row_state::asking));
  BOOST_TEST(counts().orders_lost == 0u);
  BOOST_TEST(w.seat.taken() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
