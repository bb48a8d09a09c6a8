// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/suspicions.hpp>

#include <boost/test/unit_test.hpp>

#include <optional>

namespace {

using namespace atelier;
using actors::suspicions;
using core::phase;
using permission = suspicions::permission;

constexpr core::request_id one{1};
constexpr core::request_id two{2};
constexpr suspicions::place drawing{phase::denoising, 0, 4};

struct rig {
  suspicions sut;

  /// One death of the worker's process.
  suspicions::verdict die(bool alone, bool gained = false,
                          suspicions::place at = drawing) {
    return sut.lost(one, {true, alone, gained}, at);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(suspicions_test, rig)

BOOST_AUTO_TEST_CASE(a_death_among_others_makes_a_suspect_and_no_strike) {
  BOOST_TEST(!sut.is_alone(one));
  const auto found = die(false);
  BOOST_TEST(sut.is_alone(one));
  BOOST_TEST(!found.is_poison);
  BOOST_TEST(found.losses == 1u);
  BOOST_TEST(sut.strikes(one) == 0u);
  BOOST_TEST(!sut.is_alone(two));
}

BOOST_AUTO_TEST_CASE(two_deaths_alone_without_a_step_are_poison) {
  die(false);
  BOOST_TEST(!die(true).is_poison);
  BOOST_TEST(die(true).is_poison);
  BOOST_TEST(sut.is_poison(one));
  const auto why = sut.poison_of(one, drawing, "it crashed");
  BOOST_TEST((why.code == core::ec::poison));
  BOOST_TEST(why.text
             == "its worker died 2 times while running it alone at step 4 "
                "(last: it crashed)");
}

BOOST_AUTO_TEST_CASE(a_gain_forgives_strikes_but_the_request_stays_alone) {
  die(false);
  die(true);
  const auto found = die(true, true, {phase::denoising, 0, 9});
  BOOST_TEST(found.losses == 1u);
  BOOST_TEST(sut.strikes(one) == 0u);
  BOOST_TEST(sut.is_alone(one));
  BOOST_TEST(sut.reached(one) == 9u);
}

BOOST_AUTO_TEST_CASE(losses_of_other_causes_are_counted_and_suspect_nobody) {
  BOOST_TEST(sut.lost(one, {}, drawing).losses == 1u);
  BOOST_TEST(sut.lost(one, {}, drawing).losses == 2u);
  BOOST_TEST(!sut.is_alone(one));
  sut.enter(one, drawing, true);
  BOOST_TEST(sut.lost(one, {}, drawing).losses == 1u);
}

BOOST_AUTO_TEST_CASE(the_next_stage_ends_a_suspicion) {
  die(false);
  die(true);
  sut.leave(one, drawing);
  sut.enter(one, {phase::finishing, 0, 4}, true);
  BOOST_TEST(!sut.is_alone(one));
  BOOST_TEST(sut.strikes(one) == 0u);
  BOOST_TEST(sut.reached(one) == 0u);
}

BOOST_AUTO_TEST_CASE(a_held_suspicion_applies_at_its_place) {
  sut.accept(one, {phase::denoising, 1, 7, 1}, false);
  sut.enter(one, {phase::denoising, 0, 0}, true);
  BOOST_TEST(!sut.is_alone(one));
  sut.enter(one, {phase::preparing, 1, 0}, true);
  BOOST_TEST(!sut.is_alone(one));
  sut.enter(one, {phase::denoising, 1, 0}, false);
  BOOST_TEST(!sut.is_alone(one));
  sut.enter(one, {phase::denoising, 1, 0}, true);
  BOOST_TEST(sut.is_alone(one));
  BOOST_TEST(sut.strikes(one) == 1u);
  BOOST_TEST(sut.reached(one) == 7u);
  // It applies once.
  sut.enter(one, {phase::denoising, 1, 0}, true);
  BOOST_TEST(!sut.is_alone(one));
}

BOOST_AUTO_TEST_CASE(a_leg_that_begins_anew_keeps_its_suspicion) {
  die(false);
  sut.hold(one, 0);
  sut.enter(one, {phase::preparing, 0, 0}, true);
  BOOST_TEST(!sut.is_alone(one));
  sut.enter(one, {phase::denoising, 0, 0}, true);
  BOOST_TEST(sut.is_alone(one));
  BOOST_TEST(sut.strikes(one) == 1u);
}

BOOST_AUTO_TEST_CASE(a_trial_waits_until_its_client_recorded_it) {
  sut.accept(one, {}, true);
  die(false);
  BOOST_TEST((sut.ask_for_trial(one) == permission::wanted));
  const core::suspicion wanted{phase::denoising, 0, 4, 1};
  BOOST_TEST((sut.next_record(one, drawing) == wanted));
  BOOST_TEST((sut.ask_for_trial(one) == permission::awaited));
  BOOST_TEST(sut.recorded(one));
  BOOST_TEST(!sut.recorded(one));
  BOOST_TEST((sut.ask_for_trial(one) == permission::granted));
  sut.begin(one);
  BOOST_TEST((sut.ask_for_trial(one) == permission::wanted));
}

BOOST_AUTO_TEST_CASE(clients_that_record_nothing_delay_no_trial) {
  die(false);
  BOOST_TEST((sut.ask_for_trial(one) == permission::granted));
  BOOST_TEST((sut.ask_for_trial(two) == permission::granted));
  BOOST_TEST(!sut.recorded(one));
  BOOST_TEST(!sut.take_trial_back(one, drawing).has_value());
}

BOOST_AUTO_TEST_CASE(what_was_recorded_is_taken_back_once_it_is_over) {
  sut.accept(one, {}, true);
  die(false);
  BOOST_TEST(!sut.leave(one, drawing).has_value());
  sut.next_record(one, drawing);
  const auto back = sut.take_trial_back(one, drawing);
  BOOST_TEST_REQUIRE(back.has_value());
  BOOST_TEST(back->trials == 0u);
  sut.next_record(one, drawing);
  const auto over = sut.leave(one, drawing);
  BOOST_TEST_REQUIRE(over.has_value());
  BOOST_TEST(over->trials == 0u);
  BOOST_TEST(!sut.leave(one, drawing).has_value());
}

BOOST_AUTO_TEST_CASE(a_gain_is_recorded) {
  sut.accept(one, {phase::denoising, 0, 1, 1}, true);
  sut.enter(one, {phase::denoising, 0, 0}, true);
  const auto found = die(true, true);
  BOOST_TEST_REQUIRE(found.record.has_value());
  BOOST_TEST(found.record->trials == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_is_delayed_once_and_a_suspect_never) {
  BOOST_TEST(sut.note_delay(one));
  BOOST_TEST(!sut.note_delay(one));
  BOOST_TEST(sut.is_held_up(one));
  die(false);
  BOOST_TEST(!sut.is_held_up(one));
  BOOST_TEST(!sut.is_held_up(two));
}

BOOST_AUTO_TEST_CASE(legs_begin_anew_a_few_times) {
  for (uint32_t i = 0; i < actors::most_restarts; ++i)
    BOOST_TEST(sut.count_restart(one));
  BOOST_TEST(!sut.count_restart(one));
  // Other legs count too.
  sut.enter(one, {phase::denoising, 1, 0}, true);
  BOOST_TEST(!sut.count_restart(one));
}

BOOST_AUTO_TEST_CASE(lost_orders_count_until_the_next_stage) {
  BOOST_TEST(sut.count_unanswered(one) == 1u);
  BOOST_TEST(sut.count_unanswered(one) == 2u);
  sut.enter(one, drawing, true);
  BOOST_TEST(sut.count_unanswered(one) == 1u);
  sut.forget(one);
  BOOST_TEST(sut.count_unanswered(one) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
