// SPDX-License-Identifier: Apache-2.0

// Answers of stages. replies_workers_test has workers that join,
// replies_steps_test has the steps that devices report.

#include "actors/layers_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::alone_queue;
using actors::role;
using actors::row_state;
using actors::stage_done;
using core::ec;
using ipc::slot_kind;
using planning::held;
using planning::hook;
using planning::if_failed;
using planning::queue_of;
using test::card_4;
using test::layers_rig;
using test::parts_rig;
using test::told_stage;

const core::error broken = core::fail(ec::internal, "broken");
const core::error gone = core::fail(ec::unavailable, "gone");

// A stage finds facts before the route from the files of a request; a stage
// behind `prepare` checks the prompt.
struct plays {
  if_failed otherwise = if_failed::fail;
  told_stage::script says = {};
  std::vector<planning::slot_use> slots = {};
  std::shared_ptr<actors::timeline> into = nullptr;
};

struct rig : layers_rig {
  explicit rig(const plays& how = {}) : layers_rig(with(how)) {}

  static options with(const plays& how) {
    actors::standard_stages own;
    own.classify = test::told("guess", hook::before_route, if_failed::go_on,
                              {{held::files}}, how.says);
    options o;
    o.slots = {16, 16, 0};
    o.drawing = how.into;
    o.stages = test::pipeline_with(
      own,
      {{test::told("early", hook::each_leg, how.otherwise, how.slots, how.says),
        "prepare"}});
    return o;
  }

  // An answer of the stage at which a row is.
  template <class Done>
  stage_done answer_of(core::ticket who, Done outcome,
                       const core::error& why = {}) {
    stage_done x;
    x.ticket = who;
    x.stage = static_cast<uint16_t>(of.orders.at(who).stage);
    x.failure = why;
    x.outcome = core::typed_body::of(std::move(outcome));
    return x;
  }

  stage_done prepared(core::ticket who, const core::error& why = {}) {
    return answer_of(who, actors::prepare_stage::done{}, why);
  }

  // Publishes what an order was to write.
  void write_all(core::ticket who) {
    for (const auto& slot : of.slots.of(who).granted.slots)
      if (slot)
        publish(slot);
  }

  core::ticket prepares_at(actors::worker& w) {
    auto& r = layers_rig::waits_to_prepare();
    of.requests.count_ahead({}, true);
    return run(r, w);
  }

  // A row that runs the stage behind `prepare`.
  core::ticket runs_early_at(actors::worker& w) {
    auto& r = accept();
    route(r);
    enter(r, "prepare");
    write(r, {held::state});
    enter(r, "early");
    r.course.set_order(core::typed_body::of(told_stage::work{}));
    wait(r);
    of.requests.count_ahead({}, true);
    return run(r, w);
  }

  actors::row& row_of(core::ticket who) {
    return of.requests.at(who.id);
  }

  actors::replies& sut = replies;
};

told_stage::script checking() {
  told_stage::script says;
  says.end = [](const told_stage::done& x, planning::facts& known) {
    known.tolerated = {{static_cast<uint32_t>(x.found)}};
    return x.found == 99 ? core::result<void>{broken} : core::result<void>{};
  };
  return says;
}

struct checking_rig : rig {
  checking_rig() : rig({if_failed::fail, checking()}) {}
};

struct tolerant_rig : rig {
  tolerant_rig() : rig({if_failed::go_on, checking()}) {}
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(replies_test, rig)

// -- answers of stages --------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_continues_behind_the_stage_that_answered) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  const auto state = of.slots.of(who).granted[held::state];
  write_all(who);
  auto x = prepared(who);
  x.took = 30ms;
  x.notes = {{core::note_code::unknown_word, "a word"}};
  BOOST_TEST(sut.on(x, now));
  auto& r = row_of(who);
  BOOST_TEST(r.course.stage() == stage("early"));
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST((r.held[held::state] == state));
  BOOST_TEST(r.account.notes().size() == 1u);
  BOOST_TEST(w.seat.taken() == 0u);
  actors::answer a;
  r.account.close(a, r.request->arrived, now);
  BOOST_TEST((a.took.preprocess == 30ms));
  BOOST_TEST(counts().stale_replies == 0u);
  BOOST_TEST(check() == "");
}

BOOST_FIXTURE_TEST_CASE(facts_of_a_stage_are_known, checking_rig) {
  const auto who = runs_early_at(pool(role::preprocess));
  write_all(who);
  sut.on(answer_of(who, told_stage::done{3}), now);
  BOOST_TEST(
    (row_of(who).course.known().tolerated == std::vector<uint32_t>{3}));
  BOOST_TEST((queue(row_of(who)) == queue_of(card_4)));
}

BOOST_AUTO_TEST_CASE(answer_of_a_stage_ends_no_drawing) {
  auto& w = device(2);
  const auto who = draws_at(w);
  BOOST_TEST(!sut.on(prepared(who), now));
  BOOST_TEST(counts().stale_replies == 1u);
  BOOST_TEST(w.seat.taken() == 1u);
}

BOOST_AUTO_TEST_CASE(answer_to_an_unknown_order_is_stale) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  auto x = prepared(who);
  x.ticket.attempt += 1;
  sut.on(x, now);
  BOOST_TEST(counts().stale_replies == 1u);
  BOOST_TEST(w.seat.taken() == 1u);
}

BOOST_AUTO_TEST_CASE(answer_for_another_stage_fails) {
  const auto who = prepares_at(pool(role::preprocess));
  write_all(who);
  auto x = prepared(who);
  x.stage = static_cast<uint16_t>(stage("finish"));
  sut.on(x, now);
  BOOST_TEST((only_answer().failure.code == ec::internal));
  BOOST_TEST(only_answer().failure.text
             == "a worker answered for stage 4 instead of 'prepare'");
  BOOST_TEST(of.slots.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(failure_is_reported_though_its_stage_is_wrong) {
  const auto who = prepares_at(pool(role::preprocess));
  auto x = prepared(who, broken);
  x.stage = static_cast<uint16_t>(stage("finish"));
  sut.on(x, now);
  BOOST_TEST((only_answer().failure == broken));
}

BOOST_AUTO_TEST_CASE(answer_for_a_request_that_ended_frees_its_slots) {
  auto& w = pool(role::preprocess);
  const auto who = prepares_at(w);
  write_all(who);
  cancel(row_of(who));
  BOOST_TEST(of.slots.in_use() == 1u);
  sut.on(prepared(who), now);
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(w.seat.taken() == 0u);
  BOOST_TEST(answers().size() == 1u);
  BOOST_TEST(counts().stale_replies == 0u);
}

BOOST_AUTO_TEST_CASE(answer_of_an_earlier_attempt_moves_no_row) {
  auto& w = pool(role::preprocess);
  const auto first = prepares_at(w);
  auto& r = row_of(first);
  wait(r);
  of.requests.count_ahead({}, true);
  const auto second = run(r, w);
  write_all(first);
  sut.on(prepared(first), now);
  BOOST_TEST((r.state() == row_state::running));
  BOOST_TEST(!r.held[held::state]);
  BOOST_TEST((w.seat.orders() == std::vector{second}));
  BOOST_TEST(of.slots.in_use() == 1u);
}

BOOST_FIXTURE_TEST_CASE(answer_to_a_question_frees_its_files, checking_rig) {
  pool(role::classifier);
  auto& r = accept(&parts_rig::bring_image);
  lifecycle.begin(id_of(r), r, now);
  const auto sent = take_sent<actors::run_stage>();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST_REQUIRE(of.slots.in_use() == 1u);
  BOOST_TEST(sut.on(answer_of(sent[0].ticket, told_stage::done{3}), now));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST((r.course.known().tolerated == std::vector<uint32_t>{3}));
  BOOST_TEST((queue(r) == actors::prepare_queue));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(question_answered_for_another_stage_finds_nothing) {
  pool(role::classifier);
  auto& r = accept();
  lifecycle.begin(id_of(r), r, now);
  const auto sent = take_sent<actors::run_stage>();
  auto x = answer_of(sent.at(0).ticket, told_stage::done{});
  x.stage = static_cast<uint16_t>(stage("finish"));
  sut.on(x, now);
  BOOST_TEST(left_out("guess") == 1u);
  BOOST_TEST((queue(r) == actors::prepare_queue));
}

// -- failures of stages -------------------------------------------------------

BOOST_AUTO_TEST_CASE(stage_that_a_living_worker_could_not_do_is_tried_again) {
  const auto who = prepares_at(pool(role::preprocess));
  sut.on(prepared(who, gone), now);
  BOOST_TEST((queue(row_of(who)) == actors::prepare_queue));
  BOOST_TEST(row_of(who).course.stage() == stage("prepare"));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(!of.suspicions.is_alone(who.id));
}

BOOST_AUTO_TEST_CASE(stage_that_refuses_a_request_ends_it) {
  const auto who = prepares_at(pool(role::preprocess));
  sut.on(prepared(who, core::fail(ec::bad_payload, "no image")), now);
  BOOST_TEST((only_answer().failure.code == ec::bad_payload));
}

BOOST_AUTO_TEST_CASE(stage_that_left_a_slot_empty_has_failed) {
  const auto who = prepares_at(pool(role::preprocess));
  sut.on(prepared(who), now);
  BOOST_TEST(only_answer().failure.text
             == "stage 'prepare' left nothing as 'state'");
}

BOOST_FIXTURE_TEST_CASE(stage_whose_outcome_is_refused_has_failed,
                        checking_rig) {
  const auto who = runs_early_at(pool(role::preprocess));
  write_all(who);
  sut.on(answer_of(who, told_stage::done{99}), now);
  BOOST_TEST((only_answer().failure == broken));
}

BOOST_FIXTURE_TEST_CASE(row_continues_without_a_stage_that_may_fail,
                        tolerant_rig) {
  const auto who = runs_early_at(pool(role::preprocess));
  const auto state = row_of(who).held[held::state];
  write_all(who);
  auto x = answer_of(who, told_stage::done{99});
  x.notes = {{core::note_code::unknown_word, "a word"}};
  sut.on(x, now);
  auto& r = row_of(who);
  BOOST_TEST((queue(r) == queue_of(card_4)));
  BOOST_TEST(left_out("early") == 1u);
  BOOST_TEST((r.held[held::state] == state));
  BOOST_TEST(of.slots.in_use() == 1u);
  // What it said is not believed.
  BOOST_TEST(!r.course.known().tolerated.has_value());
  BOOST_TEST(r.account.notes().empty());
}

BOOST_FIXTURE_TEST_CASE(stage_that_may_fail_is_not_tried_again, tolerant_rig) {
  const auto who = runs_early_at(pool(role::preprocess));
  sut.on(answer_of(who, told_stage::done{}, gone), now);
  BOOST_TEST((queue(row_of(who)) == queue_of(card_4)));
}

// -- records ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(time_of_finishing_is_measured_from_the_wait_on) {
  auto& w = pool(role::postprocess);
  auto& r = waits_to_finish();
  now += 700ms;
  const auto who = run(r, w);
  now += 900ms;
  write_all(who);
  sut.on(answer_of(who, actors::finish_stage::done{7, "sum"}), now);
  BOOST_TEST((only_answer().failure.code == ec::none));
  BOOST_TEST(only_answer().bytes == 7u);
  // The mean moves by a sixteenth.
  BOOST_TEST((of.forecast.finishing() == 100ms));
  const auto prepares = prepares_at(pool(role::preprocess));
  now += 1600ms;
  write_all(prepares);
  sut.on(prepared(prepares), now);
  BOOST_TEST((of.forecast.finishing() == 100ms));
}

BOOST_AUTO_TEST_CASE(work_of_a_stage_is_drawn_at_its_worker) {
  const auto into = std::make_shared<test::recording_timeline>();
  plays how;
  how.into = into;
  rig x{how};
  const auto who = x.prepares_at(x.pool(role::preprocess));
  x.write_all(who);
  auto done = x.prepared(who);
  done.began_ns = 5'000'000;
  done.took = 2ms;
  into->all.clear();
  x.sut.on(done, x.now);
  BOOST_TEST_REQUIRE(into->all.size() == 2u);
  BOOST_TEST(into->all[0].name == "preprocess");
  BOOST_TEST((into->all[0].from == core::time_point{5ms}));
  BOOST_TEST((into->all[0].to == core::time_point{7ms}));
  BOOST_TEST((into->all[0].rows == std::vector{who.id}));
  BOOST_TEST(into->all[0].track.has_value());
  // And where the request was.
  BOOST_TEST((into->all[1].request == who.id));
  BOOST_TEST(into->all[1].texts.at(0).second == "preprocess 0");
}

BOOST_AUTO_TEST_SUITE_END()
