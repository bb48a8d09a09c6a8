// SPDX-License-Identifier: Apache-2.0

// Orders that could not leave, and orders about which nothing is heard.
// losses_abandoned_test has those of workers that cannot be replaced.

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

BOOST_FIXTURE_TEST_SUITE(losses_orders_test, rig)

// -- orders that could not leave ----------------------------------------------

BOOST_AUTO_TEST_CASE(order_too_large_to_leave_ends_its_request) {
  auto& w = pool(role::preprocess);
  BOOST_TEST(!sut.end_unsent(now));
  const auto who = prepares_at(w);
  send_nothing();
  out.send(w, who, actors::run_stage{});
  BOOST_TEST(sut.end_unsent(now));
  BOOST_TEST((only_answer().failure.code == ec::invalid_argument));
  BOOST_TEST(only_answer().failure.text
             == "the order of stage 'prepare': too large");
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(!sut.end_unsent(now));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(all_orders_that_could_not_leave_end) {
  auto& w = pool(role::preprocess);
  const auto first = prepares_at(w);
  const auto ended = prepares_at(w);
  const auto last = prepares_at(w);
  send_nothing();
  for (const auto who : {first, ended, last})
    out.send(w, who, actors::run_stage{});
  // It ended before: nothing is known of it.
  BOOST_REQUIRE(sut.conclude(ended, now));
  BOOST_TEST(sut.end_unsent(now));
  BOOST_TEST(answers().size() == 2u);
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(counts().stale_replies == 1u);
}

BOOST_AUTO_TEST_CASE(question_too_large_to_leave_is_over) {
  auto& w = pool(role::classifier);
  auto& r = accept();
  send_nothing();
  lifecycle.begin(id_of(r), r, now);
  BOOST_TEST_REQUIRE((r.state() == row_state::asking));
  BOOST_TEST(sut.end_unsent(now));
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(left_out("guess") == 1u);
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(order_of_a_row_that_moved_frees_what_it_wrote) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  auto& r = row_of(who);
  wait(r);
  send_nothing();
  out.send(w, who, actors::run_stage{});
  BOOST_TEST(sut.end_unsent(now));
  BOOST_TEST(answers().empty());
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(of.slots.in_use() == 0u);
}

// -- questions about orders ---------------------------------------------------

BOOST_AUTO_TEST_CASE(worker_is_asked_about_an_order_whose_time_is_over) {
  auto& w = device(2);
  const auto first = draws_at(w);
  pass(1s);
  const auto second = draws_at(w);
  pass(1s);
  sut.ask_about_orders(now);
  BOOST_TEST(asked().empty());
  pass(1ns);
  sut.ask_about_orders(now);
  BOOST_TEST((asked() == tickets{first}));
  pass(1s);
  sut.ask_about_orders(now);
  BOOST_TEST((asked() == tickets{second}));
}

BOOST_AUTO_TEST_CASE(suspected_worker_is_not_asked) {
  auto& w = device(2);
  draws_at(w);
  of.workers.suspect(w);
  overdue();
  BOOST_TEST(asked().empty());
}

BOOST_AUTO_TEST_CASE(answer_to_no_question_is_stale) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  w.signs.begin(out.running_time(now));
  pass(100ms);
  answer(who, false);
  answer({who.id, who.attempt + 1}, false);
  BOOST_TEST(counts().stale_replies == 2u);
  BOOST_TEST(w.seat.taken() == 1u);
  BOOST_TEST(w.signs.unexplained(out.running_time(now)).has_value());
}

BOOST_AUTO_TEST_CASE(order_that_its_worker_has_gets_its_time_again) {
  const auto who = draws_at(device(2));
  overdue();
  asked();
  answer(who, true);
  BOOST_TEST(!of.orders.is_asked(who));
  BOOST_TEST(counts().orders_lost == 0u);
  pass(2s);
  sut.ask_about_orders(now);
  BOOST_TEST(asked().empty());
  pass(1ns);
  sut.ask_about_orders(now);
  BOOST_TEST((asked() == tickets{who}));
}

BOOST_AUTO_TEST_CASE(answer_of_a_pool_is_a_sign_of_life_and_a_devices_is_none) {
  const auto silent = [&](actors::worker& w, core::ticket who) {
    w.signs.begin(out.running_time(now));
    overdue();
    answer(who, true);
    return w.signs.unexplained(out.running_time(now)).has_value();
  };
  auto& preparing = pool(role::preprocess);
  BOOST_TEST(!silent(preparing, prepares_at(preparing)));
  auto& w = device(2);
  BOOST_TEST(silent(w, draws_at(w)));
}

// -- orders that were lost ----------------------------------------------------

BOOST_AUTO_TEST_CASE(row_whose_order_was_lost_tries_its_stage_again) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  w.signs.begin(out.running_time(now));
  lose_order(who);
  BOOST_TEST(counts().orders_lost == 1u);
  BOOST_TEST((queue(row_of(who)) == actors::prepare_queue));
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(suspects().empty());
  BOOST_TEST(!of.suspicions.is_alone(who.id));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(lost_order_is_no_sign_of_life) {
  auto& w = device(2);
  const auto who = draws_at(w);
  w.signs.begin(out.running_time(now));
  lose_order(who);
  BOOST_TEST(w.signs.unexplained(out.running_time(now)).has_value());
}

BOOST_AUTO_TEST_CASE(row_whose_answer_was_lost_continues_from_its_state) {
  const auto who = draws_at(device(2));
  publish(of.slots.of(who).granted[held::state], 3);
  lose_order(who);
  BOOST_TEST(row_of(who).held.steps() == 2u);
  BOOST_TEST(counts().resumed == 1u);
  BOOST_TEST(row_of(who).account.steps_run() == 2u);
}

BOOST_AUTO_TEST_CASE(second_loss_in_a_stage_replaces_the_worker_once) {
  auto& w = pool(role::preprocess);
  const auto other = prepares_at(w);
  const auto first = prepares_at(w);
  auto& r = row_of(first);
  lose_order(first);
  const auto second = prepares_again(r, w);
  lose_order(second);
  BOOST_TEST_REQUIRE(suspects().size() == 1u);
  BOOST_TEST((suspects()[0].first == w.address.process));
  BOOST_TEST(suspects()[0].second
             == "an order to preprocess 0, or its answer, was lost");
  // The request is suspect from now on.
  BOOST_TEST((queue(r) == actors::pool_suspects_queue));
  BOOST_TEST(w.signs.loses_orders());
  lose_order(other);
  auto& later = row_of(other);
  lose_order(prepares_again(later, w));
  BOOST_TEST(suspects().size() == 1u);
  BOOST_TEST(of.suspicions.is_alone(other.id));
}

BOOST_AUTO_TEST_CASE(lost_question_is_over) {
  auto& w = pool(role::classifier);
  auto& r = accept();
  lifecycle.begin(id_of(r), r, now);
  const auto who = w.seat.orders().at(0);
  // Half of the silence of five seconds.
  pass(2500ms + 1ns);
  sut.ask_about_orders(now);
  answer(who, false);
  BOOST_TEST(counts().orders_lost == 1u);
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(left_out("guess") == 1u);
  // The row lost no order of a stage.
  BOOST_TEST(of.suspicions.count_unanswered(id_of(r)) == 1u);
}

BOOST_AUTO_TEST_CASE(lost_order_of_a_request_that_ended_frees_its_slots) {
  auto& w = device(2);
  const auto who = draws_at(w);
  cancel(row_of(who));
  lose_order(who);
  BOOST_TEST(answers().size() == 1u);
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
