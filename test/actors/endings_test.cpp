// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include "support/told_stage.hpp"
#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/endings.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::cancel_work;
using actors::row_state;
using core::ec;
using planning::held;
using test::parts_rig;

const core::error broken = core::fail(ec::internal, "broken");

// A stage remembers each image that was answered.
struct rig : parts_rig {
  rig() : parts_rig(with()), beside(of, out), sut(of, out, waiting, beside) {}

  static options with() {
    actors::standard_stages own;
    own.remember = test::told("keep", planning::hook::after_answer,
                              planning::if_failed::go_on, {}, {},
                              planning::place::background);
    options o;
    o.stages = test::pipeline_with(own);
    return o;
  }

  const actors::answer& only_answer() {
    BOOST_REQUIRE_EQUAL(answers().size(), 1u);
    return answers().front();
  }

  void fail(actors::row& r, row_state as = row_state::failed) {
    sut.fail(id_of(r), r, as, broken, now);
  }

  // A row that runs its last stage, and whose image is encoded.
  actors::row& encoded() {
    auto& r = accept();
    route(r);
    r.course.end_leg(core::ec::none);
    r.course.finish();
    enter(r, "finish");
    write(r, {held::encoded});
    planning::facts found;
    found.file.emplace();
    found.file->bytes = 7;
    found.file->sha256 = "sum";
    r.course.learn(std::move(found));
    return r;
  }

  // Whether a table but that of rows knows a request.
  bool is_known(core::request_id id) const {
    bool known = of.forecast.work_of(id) != 0s;
    const auto is = [&](core::request_id x) { known = known || x == id; };
    of.questions.each_request(is);
    of.suspicions.each_request(is);
    return known;
  }

  actors::asides beside;
  actors::endings sut;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(endings_test, rig)

BOOST_AUTO_TEST_CASE(request_without_a_row_is_answered_with_its_refusal) {
  auto what = std::make_shared<core::request>();
  what->id = core::request_id{5};
  of.records.count(&actors::counters::arrived);
  sut.refuse(what, broken, 3s, now);
  const auto& a = only_answer();
  BOOST_TEST((a.request == what));
  BOOST_TEST((a.failure == broken));
  BOOST_TEST((a.retry_after == 3s));
  BOOST_TEST(of.records.counts().refused == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_that_is_turned_away_was_never_accepted) {
  auto& r = accept();
  const auto id = id_of(r);
  of.suspicions.note_delay(id);
  of.questions.count_question(id);
  sut.turn_away(id, r, broken, 3s, now);
  BOOST_TEST((only_answer().request->id == id));
  BOOST_TEST((only_answer().failure == broken));
  BOOST_TEST((only_answer().retry_after == 3s));
  BOOST_TEST(of.requests.find(id) == nullptr);
  BOOST_TEST(!is_known(id));
  BOOST_TEST(of.records.counts().refused == 1u);
  BOOST_TEST(of.records.counts().failed == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(waiting_row_that_fails_leaves_queue_and_slots) {
  auto& r = waits_to_draw();
  const auto id = id_of(r);
  of.suspicions.note_delay(id);
  of.queues.hold_up(id);
  now += 2s;
  fail(r);
  const auto& a = only_answer();
  BOOST_TEST((a.request->id == id));
  BOOST_TEST((a.failure == broken));
  BOOST_TEST(a.route == "card@4");
  BOOST_TEST(a.recipe.steps == 4u);
  BOOST_TEST((a.took.total == 2s));
  BOOST_TEST((a.took.queue == 2s));
  BOOST_TEST(!a.image);
  BOOST_TEST(of.requests.find(id) == nullptr);
  BOOST_TEST(!of.queues.contains(id));
  BOOST_TEST(!is_known(id));
  BOOST_TEST(of.slots.in_use() == 0u);
  BOOST_TEST(of.records.counts().failed == 1u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(running_row_that_fails_leaves_its_worker) {
  auto& w = device(2);
  const auto who = draws_at(w);
  fail(of.requests.at(who.id));
  const auto sent = take_sent<cancel_work>();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST((sent.front().ticket == who));
  // Its order keeps its seat until the worker replies.
  BOOST_TEST(w.seat.taken() == 1u);
  BOOST_TEST(of.orders.find(who) != nullptr);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(row_without_an_order_leaves_no_worker) {
  device(2);
  auto& r = waits_to_draw();
  fail(r);
  auto& lost = accept();
  of.requests.run(lost);
  sut.cancel_order(id_of(lost), lost);
  BOOST_TEST(take_sent<cancel_work>().empty());
}

BOOST_AUTO_TEST_CASE(row_without_a_route_fails_without_one) {
  auto& r = accept();
  of.requests.ask(r);
  fail(r);
  BOOST_TEST(only_answer().route.empty());
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(cancelled_row_is_counted_as_such) {
  fail(waits_to_draw(), row_state::cancelled);
  BOOST_TEST(of.records.counts().cancelled == 1u);
  BOOST_TEST(of.records.counts().failed == 0u);
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(encoded_image_is_the_answer) {
  auto& r = encoded();
  const auto id = id_of(r);
  of.suspicions.note_delay(id);
  r.account.ran(4);
  now += 1s;
  sut.answer(id, r, now);
  const auto& a = only_answer();
  BOOST_TEST((a.failure.code == ec::none));
  BOOST_TEST((a.image == r.held[held::encoded]));
  BOOST_TEST(a.bytes == 7u);
  BOOST_TEST(a.sha256 == "sum");
  BOOST_TEST((a.px == core::extent{32, 32}));
  BOOST_TEST(a.model == "card");
  BOOST_TEST(a.variant == "card@4");
  BOOST_TEST(a.route == "card@4");
  BOOST_TEST(a.steps_run == 4u);
  BOOST_TEST((a.took.total == 1s));
  BOOST_TEST(!a.tolerated.has_value());
  BOOST_TEST((r.state() == row_state::answered));
  BOOST_TEST(!is_known(id));
  BOOST_TEST(of.records.counts().answered == 1u);
  BOOST_TEST(check() == "");
  // The image stays until the client took it.
  BOOST_TEST(of.slots.in_use() == 1u);
  of.slots.taken(id, r.held);
  BOOST_TEST(of.slots.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(answer_has_the_predicted_levels_if_there_are_any) {
  const auto told = [&](std::vector<uint32_t> levels) {
    auto& r = encoded();
    planning::facts found;
    found.tolerated = std::move(levels);
    r.course.learn(std::move(found));
    sut.answer(id_of(r), r, now);
    return answers().back().tolerated;
  };
  BOOST_TEST(!told({}).has_value());
  BOOST_TEST((told({3}) == std::vector<uint32_t>{3}));
}

BOOST_AUTO_TEST_CASE(row_without_an_encoded_image_fails) {
  const auto fails = [&](auto& r) {
    answers().clear();
    sut.answer(id_of(r), r, now);
    BOOST_TEST(only_answer().failure.text
               == "no stage encoded the answer's image");
    BOOST_TEST(!only_answer().image);
    BOOST_TEST(check() == "");
  };
  fails(waits_to_draw());
  auto& no_file = waits_to_draw();
  write(no_file, {held::encoded});
  fails(no_file);
  auto& no_slot = waits_to_draw();
  planning::facts found;
  found.file.emplace();
  no_slot.course.learn(std::move(found));
  fails(no_slot);
}

BOOST_AUTO_TEST_CASE(answer_leaves_after_the_state_is_set) {
  std::vector<row_state> seen;
  on_answer([&](const actors::answer& a) {
    const auto* r = of.requests.find(a.request->id);
    seen.push_back(r == nullptr ? row_state::failed : r->state());
    BOOST_TEST(check() == "");
  });
  auto& drawn = encoded();
  sut.answer(id_of(drawn), drawn, now);
  fail(waits_to_draw());
  auto& refused = accept();
  sut.turn_away(id_of(refused), refused, broken, 0s, now);
  BOOST_TEST((
    seen
    == std::vector{row_state::answered, row_state::failed, row_state::failed}));
}

BOOST_AUTO_TEST_CASE(answered_image_is_remembered) {
  pool(actors::role::recall);
  auto& r = encoded();
  sut.answer(id_of(r), r, now);
  BOOST_TEST(take_sent<actors::run_stage>().size() == 1u);
  fail(waits_to_draw());
  BOOST_TEST(take_sent<actors::run_stage>().empty());
}

BOOST_AUTO_TEST_SUITE_END()
