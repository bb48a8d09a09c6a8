// SPDX-License-Identifier: Apache-2.0

// Legs that end at devices, with an image or without one.

#include "actors/layers_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoised;
using actors::role;
using actors::row_state;
using core::ec;
using ipc::slot_kind;
using planning::held;
using planning::queue_of;
using test::card_4;
using test::layers_rig;

const core::error broken = core::fail(ec::internal, "broken");

// Vanilla's routes are the first two; the images of the next one are judged.
constexpr core::route_id judged{2};

struct rig : layers_rig {
  explicit rig(std::shared_ptr<actors::timeline> into = nullptr)
    : layers_rig(with(std::move(into))) {}

  static options with(std::shared_ptr<actors::timeline> into) {
    options o;
    o.slots = {16, 16, 4};
    o.drawing = std::move(into);
    o.adjust = [](planning::plan& x) {
      auto along = x.routes[0];
      along.legs.push_back(along.legs.front());
      along.legs[0].check = planning::gate{"critic", 0};
      x.thresholds = {0.5};
      x.routes.push_back(along);
    };
    return o;
  }

  // The report of a device that drew the image of an order.
  denoised drawn(core::ticket who) {
    publish(of.slots.of(who).granted[held::pixels]);
    denoised x;
    x.ticket = who;
    x.steps_done = x.steps_run = of.orders.at(who).steps;
    return x;
  }

  static denoised failed(core::ticket who, ec code) {
    denoised x;
    x.ticket = who;
    x.failure = core::fail(code, "failed");
    return x;
  }

  // A row that continues from a state after two steps.
  core::ticket resumes_at(actors::worker& w) {
    auto& r = waits_to_draw();
    of.slots.begin_with(r.held, 2);
    return run(r, w);
  }

  // An order with a slot for a state that later requests may use.
  core::ticket captures_at(actors::worker& w, bool publishes = true) {
    const auto who = draws_at(w);
    const uint32_t wanted[] = {1};
    const auto given =
      of.slots.grant_captures(row_of(who).held, who, w.address.process, wanted);
    BOOST_REQUIRE_EQUAL(given.size(), 1u);
    if (publishes)
      publish(given[0].into);
    return who;
  }

  actors::row& row_of(core::ticket who) {
    return of.requests.at(who.id);
  }

  actors::answer account_of(actors::row& r) {
    actors::answer a;
    r.account.close(a, r.request->arrived, now);
    return a;
  }

  actors::replies& sut = replies;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(replies_images_test, rig)

// -- images -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_with_its_image_continues_behind_the_device) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const auto image = of.slots.of(who).granted[held::pixels];
  auto x = drawn(who);
  x.text = 2ms;
  x.denoise = 40ms;
  x.decode = 5ms;
  x.notes = {{core::note_code::unknown_word, "a word"}};
  BOOST_TEST(sut.on(x, now));
  auto& r = row_of(who);
  BOOST_TEST((queue(r) == actors::finish_queue));
  BOOST_TEST((r.held[held::pixels] == image));
  BOOST_TEST((r.course.known().best == 0u));
  // Both states are free.
  BOOST_TEST(of.slots.in_use() == 1u);
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(counts().steps_run == 4u);
  BOOST_TEST(r.account.notes().size() == 1u);
  const auto a = account_of(r);
  BOOST_TEST(a.steps_run == 4u);
  BOOST_TEST((a.took.text == 2ms));
  BOOST_TEST((a.took.denoise == 40ms));
  BOOST_TEST((a.took.decode == 5ms));
  BOOST_TEST(counts().stale_replies == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_runs_no_more_steps_than_it_has) {
  const auto who = draws_at(device(2));
  auto x = drawn(who);
  x.steps_run = std::numeric_limits<uint32_t>::max();
  sut.on(x, now);
  BOOST_TEST(counts().steps_run == 4u);
  BOOST_TEST(row_of(who).account.steps_run() == 4u);
}

BOOST_AUTO_TEST_CASE(image_of_a_pools_order_is_stale) {
  auto& w = pool(role::preprocess);
  const auto who = run(waits_to_prepare(), w);
  denoised x;
  x.ticket = who;
  BOOST_TEST(!sut.on(x, now));
  x.ticket.attempt += 1;
  BOOST_TEST(!sut.on(x, now));
  BOOST_TEST(counts().stale_replies == 2u);
  BOOST_TEST(w.seat.taken() == 1u);
}

BOOST_AUTO_TEST_CASE(image_for_a_request_that_ended_frees_its_slots) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const auto x = drawn(who);
  cancel(row_of(who));
  BOOST_TEST(sut.on(x, now));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(w.seat.taken() == 0u);
  // Its steps ran all the same.
  BOOST_TEST(counts().steps_run == 4u);
  BOOST_TEST(answers().size() == 1u);
}

BOOST_AUTO_TEST_CASE(image_of_an_earlier_attempt_moves_no_row) {
  auto& w = device(2);
  const auto first = draws_at(w);
  auto& r = row_of(first);
  wait(r);
  const auto second = run(r, w);
  sut.on(drawn(first), now);
  BOOST_TEST((r.state() == row_state::running));
  BOOST_TEST(!r.held[held::pixels]);
  BOOST_TEST((w.seat.orders() == std::vector{second}));
  BOOST_TEST(r.account.steps_run() == 0u);
}

// -- judges -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(image_that_passes_its_judge_is_the_answer) {
  const auto who = draws_at(device(2), {}, judged);
  auto x = drawn(who);
  x.score = 0.5;
  sut.on(x, now);
  BOOST_TEST((queue(row_of(who)) == actors::finish_queue));
  BOOST_TEST(row_of(who).course.known().done.at(0).score == 0.5);
  BOOST_TEST(counts().judge_failures == 0u);
}

BOOST_AUTO_TEST_CASE(image_that_does_not_pass_leads_to_the_next_leg) {
  const auto who = draws_at(device(2), {}, judged);
  auto x = drawn(who);
  x.score = 0.49;
  sut.on(x, now);
  BOOST_TEST((queue(row_of(who)) == actors::prepare_queue));
  BOOST_TEST(row_of(who).course.leg() == 1u);
}

BOOST_AUTO_TEST_CASE(image_on_which_its_judge_failed_does_not_pass) {
  const auto who = draws_at(device(2), {}, judged);
  auto x = drawn(who);
  x.score = planning::unjudged;
  sut.on(x, now);
  BOOST_TEST(row_of(who).course.leg() == 1u);
  BOOST_TEST(counts().judge_failures == 1u);
}

BOOST_AUTO_TEST_CASE(score_without_a_judge_or_an_image_is_none) {
  auto& w = device(2);
  const auto unjudged = draws_at(w);
  auto x = drawn(unjudged);
  x.score = 0.7;
  sut.on(x, now);
  BOOST_TEST(row_of(unjudged).course.known().done.at(0).score == 0.0);
  const auto without = draws_at(w, {}, judged);
  auto y = failed(without, ec::internal);
  y.score = 0.7;
  sut.on(y, now);
  BOOST_TEST(row_of(without).course.known().done.at(0).score == 0.0);
  BOOST_TEST(counts().confidences.empty());
}

// -- failures -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(leg_that_fails_ends_its_request_or_leads_to_the_next) {
  auto& w = device(2);
  sut.on(failed(draws_at(w), ec::invalid_argument), now);
  BOOST_TEST((only_answer().failure.code == ec::invalid_argument));
  BOOST_TEST(only_answer().failure.text == "failed");
  BOOST_TEST(of.slots.in_use() == 0u);
  const auto who = draws_at(w, {}, judged);
  sut.on(failed(who, ec::invalid_argument), now);
  BOOST_TEST(answers().size() == 1u);
  BOOST_TEST(row_of(who).course.leg() == 1u);
  BOOST_TEST((queue(row_of(who)) == actors::prepare_queue));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(failure_of_the_place_is_tried_again) {
  const auto who = draws_at(device(2));
  auto x = failed(who, ec::unavailable);
  x.steps_run = x.steps_done = 1;
  publish(of.slots.of(who).granted[held::state], 2);
  sut.on(x, now);
  BOOST_TEST((queue(row_of(who)) == queue_of(card_4)));
  BOOST_TEST(row_of(who).held.steps() == 1u);
  // The device reported its steps.
  BOOST_TEST(row_of(who).account.steps_run() == 1u);
  BOOST_TEST(!of.suspicions.is_alone(who.id));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(leg_begins_anew_if_its_state_was_torn) {
  const auto restarts = [&](core::ticket who, ec code) {
    const auto before = counts().legs_restarted;
    sut.on(failed(who, code), now);
    return counts().legs_restarted > before;
  };
  auto& w = device(2);
  BOOST_TEST(restarts(draws_at(w), ec::io_failed));
  for (const auto code : {ec::io_failed, ec::bad_payload, ec::not_found})
    BOOST_TEST(restarts(resumes_at(w), code));
  BOOST_TEST(answers().empty());
  // Noise may be torn, but nothing else.
  for (const auto code : {ec::bad_payload, ec::not_found})
    BOOST_TEST(!restarts(draws_at(w), code));
  BOOST_TEST(!restarts(resumes_at(w), ec::internal));
  BOOST_TEST(answers().size() == 3u);
}

BOOST_AUTO_TEST_CASE(state_of_a_row_that_ran_was_not_torn) {
  auto& w = device(2);
  const auto restarts = [&](uint32_t run_, uint32_t done) {
    auto x = failed(resumes_at(w), ec::bad_payload);
    x.steps_run = run_;
    x.steps_done = done;
    sut.on(x, now);
    return counts().legs_restarted > 0;
  };
  BOOST_TEST(!restarts(1, 3));
  BOOST_TEST(!restarts(0, 2));
  BOOST_TEST(answers().size() == 2u);
}

// -- captures -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(captures_of_an_image_are_kept) {
  const auto who = captures_at(device(2));
  auto x = drawn(who);
  x.captured = {1};
  sut.on(x, now);
  BOOST_TEST(row_of(who).held.captures().size() == 1u);
  BOOST_TEST(counts().captured == 1u);
}

BOOST_AUTO_TEST_CASE(capture_without_a_state_is_free_again) {
  const auto who = captures_at(device(2), false);
  sut.on(drawn(who), now);
  BOOST_TEST(row_of(who).held.captures().empty());
  BOOST_TEST(of.slots.free(slot_kind::capture) == 4u);
}

BOOST_AUTO_TEST_CASE(states_without_a_slot_count_for_drawn_images) {
  auto& w = device(2);
  const auto left_out = [&](core::ticket who, bool draws) {
    // There are four slots for five states.
    const uint32_t wanted[] = {1, 2, 3, 4, 5};
    of.slots.grant_captures(row_of(who).held, who, w.address.process, wanted);
    sut.on(draws ? drawn(who) : failed(who, ec::internal), now);
    return counts().captures_without_slot;
  };
  BOOST_TEST(left_out(draws_at(w, {}, judged), false) == 0u);
  BOOST_TEST(left_out(draws_at(w), true) == 1u);
}

// -- measurements -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(times_of_drawn_images_are_measured_as_of_their_own_size) {
  auto& w = device(2);
  // Five legs that end in this way.
  const auto reported = [&](core::route_id along, core::timespan decode,
                            const core::error& why = {}) {
    for (int i = 0; i < 5; ++i) {
      const auto who = run(waits_to_draw(
                             [](core::request& x) {
                               x.px = {64, 64};
                             },
                             along),
                           w);
      auto x = drawn(who);
      x.failure = why;
      x.text = 2ms;
      x.decode = decode;
      x.encode = 40ms;
      sut.on(x, now);
      if (auto* r = of.requests.find(who.id))
        endings.fail(who.id, *r, row_state::failed, broken, now);
    }
    return reports().size();
  };
  BOOST_TEST(reported(judged, 80ms) == 0u);
  BOOST_TEST(reported(core::route_id{0}, 80ms, broken) == 0u);
  BOOST_TEST(reported(core::route_id{0}, 0ms) == 0u);
  BOOST_TEST_REQUIRE(reported(core::route_id{0}, 80ms) == 1u);
  const auto& costs = reports()[0].costs.at(0).costs.at(card_4.value);
  BOOST_TEST((costs.text == 2ms));
  BOOST_TEST((costs.decode == 20ms));
  BOOST_TEST((costs.encode == 10ms));
}

BOOST_AUTO_TEST_CASE(end_of_a_leg_is_drawn) {
  const auto into = std::make_shared<test::recording_timeline>();
  rig x{into};
  const auto who = x.draws_at(x.device(2));
  auto told = x.drawn(who);
  told.decode = 5ms;
  told.decoded_ns = 20'000'000;
  into->all.clear();
  x.sut.on(told, x.now);
  BOOST_TEST_REQUIRE(into->all.size() == 3u);
  // At the device, and on the track of the request.
  BOOST_TEST(into->all[0].name == "decode");
  BOOST_TEST((into->all[0].from == core::time_point{15ms}));
  BOOST_TEST(into->all[0].track.has_value());
  BOOST_TEST(into->all[1].name == "denoise");
  BOOST_TEST(into->all[2].name == "decode");
  BOOST_TEST((into->all[2].request == who.id));
}

BOOST_AUTO_TEST_CASE(row_that_is_only_decoded_after_a_death_has_continued) {
  auto& w = device(2);
  const auto who = draws_at(w);
  const core::process_id dead{9};
  of.records.ready(dead, now);
  of.records.lost(dead, {who.id}, true, now);
  now += 3s;
  sut.on(drawn(who), now);
  BOOST_TEST((of.records.recovery(now).until_step.sum == 3s));
}

BOOST_AUTO_TEST_SUITE_END()
