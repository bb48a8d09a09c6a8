// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include "support/told_stage.hpp"
#include <atelier/actors/scheduler/asides.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using actors::row_state;
using actors::run_stage;
using core::ec;
using planning::hook;
using planning::if_failed;
using test::parts_rig;
using test::told_stage;

// What a question led to.
bool a_stage_looks(const core::result<bool>& made) {
  return made && *made;
}

bool no_stage_looks(const core::result<bool>& made) {
  return made && !*made;
}

// A stage "guess" finds facts before the route, and "keep" remembers images.
struct plays {
  if_failed otherwise = if_failed::go_on;
  told_stage::script says = {};
  std::vector<planning::slot_use> slots = {};
};

struct rig : parts_rig {
  explicit rig(const plays& how = {})
    : parts_rig(with(how)), sut(of, out), r(accept()) {}

  static options with(const plays& how) {
    actors::standard_stages own;
    own.classify =
      test::told("guess", hook::before_route, how.otherwise, how.slots,
                 how.says, planning::place::cpu_pool, 2s);
    own.remember = test::told("keep", hook::after_answer, how.otherwise, {},
                              how.says, planning::place::background);
    options o;
    o.stages = test::pipeline_with(own);
    return o;
  }

  core::result<bool> ask() {
    return sut.ask(id_of(r), r, {}, now);
  }

  // Asks, and returns the only order.
  run_stage asked() {
    BOOST_REQUIRE(a_stage_looks(ask()));
    const auto sent = take_sent<run_stage>();
    BOOST_REQUIRE_EQUAL(sent.size(), 1u);
    return sent.front();
  }

  static actors::stage_done reply(const run_stage& x) {
    actors::stage_done done;
    done.ticket = x.ticket;
    done.stage = x.stage;
    done.took = 30ms;
    done.outcome = core::typed_body::of(told_stage::done{});
    return done;
  }

  // An order ended with that failure.
  auto over(const run_stage& x, core::error why = {}) {
    return sut.over(reply(x), of.orders.at(x.ticket), std::move(why), now);
  }

  uint64_t left_out(size_t stage) const {
    const auto& all = of.records.counts().stages_left_out;
    return stage < all.size() ? all[stage] : 0;
  }

  actors::asides sut;
  actors::row& r;
};

template <if_failed Otherwise>
struct otherwise_rig : rig {
  otherwise_rig() : rig({Otherwise}) {}
};

using needed_rig = otherwise_rig<if_failed::fail>;

told_stage::script silent() {
  told_stage::script says;
  says.begin = [](const auto&) -> std::optional<told_stage::work> {
    return std::nullopt;
  };
  return says;
}

told_stage::script failing() {
  told_stage::script says;
  says.begin = [](const auto&) -> std::optional<told_stage::work> {
    throw std::runtime_error("no words");
  };
  return says;
}

told_stage::script tolerating() {
  told_stage::script says;
  says.end = [](const auto&, planning::facts& known) {
    known.tolerated = {{3}};
    return core::result<void>{};
  };
  return says;
}

const core::error broken = core::fail(ec::internal, "broken");

} // namespace

BOOST_FIXTURE_TEST_SUITE(asides_test, rig)

// -- questions ----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_asks_until_its_question_is_over) {
  auto& w = pool(role::classifier);
  of.questions.count_question(id_of(r));
  const auto x = asked();
  BOOST_TEST((r.state() == row_state::asking));
  BOOST_TEST(of.questions.is_open(id_of(r)));
  BOOST_TEST((x.ticket == core::ticket{id_of(r), 1}));
  BOOST_TEST(r.next_dispatch() == 2u);
  BOOST_TEST(r.moves() == 0u);
  BOOST_TEST((x.left == 2s));
  BOOST_TEST((*x.order.as<told_stage::work>())->about == id_of(r).value);
  const auto& order = of.orders.at(x.ticket);
  BOOST_TEST(order.side);
  BOOST_TEST((order.worker == w.id()));
  BOOST_TEST(order.question == 1u);
  BOOST_TEST(w.seat.taken() == 1u);
  BOOST_TEST(of.records.counts().dispatched == 1u);
  BOOST_TEST(!of.questions.late(now + 2s - 1ns).has_value());
  BOOST_TEST((of.questions.late(now + 2s) == id_of(r)));
  BOOST_TEST(check() == "");
}

BOOST_AUTO_TEST_CASE(stage_without_a_worker_is_left_out) {
  BOOST_TEST(no_stage_looks(ask()));
  BOOST_TEST((r.state() == row_state::waiting));
  BOOST_TEST(!of.questions.is_open(id_of(r)));
  BOOST_TEST(left_out(0) == 1u);
}

BOOST_FIXTURE_TEST_CASE(needed_stage_without_a_worker_turns_the_row_away,
                        needed_rig) {
  const auto no = ask();
  BOOST_TEST_REQUIRE(!no);
  BOOST_TEST((no.why().code == ec::unavailable));
  BOOST_TEST(no.why().text == "no worker is free for stage 'guess'");
  BOOST_TEST(left_out(0) == 1u);
}

BOOST_AUTO_TEST_CASE(stage_without_work_is_not_asked) {
  rig x{{if_failed::fail, silent()}};
  x.pool(role::classifier);
  BOOST_TEST(no_stage_looks(x.ask()));
  BOOST_TEST(x.left_out(0) == 0u);
}

BOOST_AUTO_TEST_CASE(stage_that_cannot_begin_is_left_out_or_needed) {
  rig x{{if_failed::go_on, failing()}};
  x.pool(role::classifier);
  BOOST_TEST(no_stage_looks(x.ask()));
  BOOST_TEST(x.left_out(0) == 1u);
  rig needed{{if_failed::fail, failing()}};
  needed.pool(role::classifier);
  BOOST_TEST(needed.ask().why().text.find("no words") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(question_goes_to_the_least_loaded_worker) {
  auto& first = pool(role::classifier, 1, 1);
  auto& second = pool(role::classifier, 5, 2);
  asked();
  BOOST_TEST(second.seat.taken() == 1u);
  auto& other = accept();
  BOOST_TEST(a_stage_looks(sut.ask(id_of(other), other, {}, now)));
  BOOST_TEST(first.seat.taken() == 1u);
  auto& third = accept();
  BOOST_TEST(a_stage_looks(sut.ask(id_of(third), third, {}, now)));
  BOOST_TEST(second.seat.taken() == 2u);
  auto& last = accept();
  BOOST_TEST(no_stage_looks(sut.ask(id_of(last), last, {}, now)));
}

BOOST_AUTO_TEST_CASE(stage_that_reads_files_leaves_image_slots_to_others) {
  rig x{{if_failed::go_on, {}, {{planning::held::files}}}};
  auto& w = x.pool(role::classifier);
  auto& edit = x.accept(&parts_rig::bring_image);
  const auto ask_edit = [&] {
    return x.sut.ask(parts_rig::id_of(edit), edit, {}, x.now);
  };
  auto& other = x.accept();
  while (x.of.slots.free(ipc::slot_kind::image) > 1)
    x.write(other, {planning::held::source});
  BOOST_TEST(no_stage_looks(ask_edit()));
  BOOST_TEST(x.of.records.counts().slot_waits == 1u);
  BOOST_TEST(w.seat.taken() == 0u);
  x.of.slots.drop_source(other.held);
  BOOST_TEST(a_stage_looks(ask_edit()));
  const auto sent = x.take_sent<run_stage>();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST(bool(sent[0].reads[planning::held::files]));
  BOOST_TEST(x.of.slots.free(ipc::slot_kind::image) == 1u);
}

// -- answers ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(answer_to_a_question_names_its_request) {
  rig x{{if_failed::go_on, tolerating()}};
  x.pool(role::classifier);
  const auto order = x.asked();
  auto done = rig::reply(order);
  done.notes = {{core::note_code::unknown_word, "a word"}};
  const auto found = x.sut.over(done, x.of.orders.at(order.ticket), {}, x.now);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST((found->id == parts_rig::id_of(x.r)));
  BOOST_TEST(bool(found->goes_on));
  BOOST_TEST(!x.of.questions.is_open(parts_rig::id_of(x.r)));
  BOOST_TEST((x.r.course.known().tolerated == std::vector<uint32_t>{3}));
  BOOST_TEST(x.r.account.notes().size() == 1u);
  BOOST_TEST(x.left_out(0) == 0u);
}

BOOST_AUTO_TEST_CASE(stage_that_fails_is_left_out) {
  pool(role::classifier);
  const auto found = over(asked(), broken);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(bool(found->goes_on));
  BOOST_TEST(left_out(0) == 1u);
}

BOOST_FIXTURE_TEST_CASE(needed_stage_that_fails_turns_the_row_away,
                        needed_rig) {
  pool(role::classifier);
  const auto found = over(asked(), broken);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST_REQUIRE(!found->goes_on);
  BOOST_TEST(found->goes_on.why().text == "broken");
}

BOOST_AUTO_TEST_CASE(answer_to_an_earlier_question_is_stale) {
  pool(role::classifier);
  const auto x = asked();
  BOOST_REQUIRE(sut.end(id_of(r), r, now));
  BOOST_TEST(!over(x).has_value());
  BOOST_TEST(of.records.counts().stale_replies == 1u);
  of.questions.count_question(id_of(r));
  asked();
  BOOST_TEST(!over(x).has_value());
  BOOST_TEST(of.records.counts().stale_replies == 2u);
  BOOST_TEST(of.questions.is_open(id_of(r)));
}

BOOST_AUTO_TEST_CASE(answer_for_a_request_that_ended_is_stale) {
  pool(role::classifier);
  const auto x = asked();
  of.requests.end(r, row_state::failed);
  of.questions.forget(x.ticket.id);
  of.requests.forget(x.ticket.id);
  BOOST_TEST(!over(x).has_value());
  BOOST_TEST(of.records.counts().stale_replies == 1u);
}

BOOST_AUTO_TEST_CASE(question_that_is_over_lets_the_row_wait) {
  pool(role::classifier);
  const auto x = asked();
  now += 40ms;
  over(x);
  BOOST_REQUIRE(sut.end(id_of(r), r, now));
  BOOST_TEST((r.state() == row_state::waiting));
  BOOST_TEST(of.records.counts().facts_late == 0u);
  BOOST_TEST(left_out(0) == 0u);
}

BOOST_AUTO_TEST_CASE(row_goes_on_without_a_late_stage) {
  pool(role::classifier);
  planning::need wants;
  wants.tolerated = true;
  BOOST_REQUIRE(a_stage_looks(sut.ask(id_of(r), r, wants, now)));
  now += 2s;
  BOOST_REQUIRE(sut.end(id_of(r), r, now));
  BOOST_TEST((r.state() == row_state::waiting));
  BOOST_TEST(of.records.counts().facts_late == 1u);
  BOOST_TEST(left_out(0) == 1u);
  // Nothing is known to be tolerated.
  BOOST_TEST_REQUIRE(r.course.known().tolerated.has_value());
  BOOST_TEST(r.course.known().tolerated->empty());
  actors::answer a;
  r.account.close(a, r.request->arrived, now);
  BOOST_TEST((a.took.classify == 2s));
}

BOOST_FIXTURE_TEST_CASE(late_stage_that_is_needed_turns_the_row_away,
                        needed_rig) {
  pool(role::classifier);
  asked();
  const auto ended = sut.end(id_of(r), r, now);
  BOOST_TEST_REQUIRE(!ended);
  BOOST_TEST(ended.why().text == "stage 'guess' did not answer in time");
  BOOST_TEST(left_out(0) == 1u);
}

// -- after the answer ---------------------------------------------------------

BOOST_AUTO_TEST_CASE(image_is_remembered_by_the_first_worker) {
  auto& first = pool(role::recall, 1, 2);
  pool(role::recall, 5, 2);
  route(r);
  sut.remember(id_of(r), r, now);
  sut.remember(id_of(r), r, now);
  BOOST_TEST(first.seat.taken() == 2u);
  const auto sent = take_sent<run_stage>();
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  BOOST_TEST((sent[0].left == core::timespan::max()));
  const auto stage = of.path.first(hook::after_answer);
  BOOST_TEST(size_t{sent[0].stage} == stage);
  BOOST_TEST(left_out(stage) == 0u);
  // Its end answers no request.
  BOOST_TEST(!over(sent[0]).has_value());
  BOOST_TEST(left_out(stage) == 0u);
  BOOST_TEST(!over(sent[1], broken).has_value());
  BOOST_TEST(left_out(stage) == 1u);
  BOOST_TEST(of.records.counts().stale_replies == 0u);
}

BOOST_AUTO_TEST_CASE(image_is_not_remembered_without_a_worker) {
  route(r);
  sut.remember(id_of(r), r, now);
  BOOST_TEST(left_out(of.path.first(hook::after_answer)) == 1u);
  BOOST_TEST(take_sent<run_stage>().empty());
}

BOOST_AUTO_TEST_CASE(stage_with_nothing_to_remember_is_not_left_out) {
  rig x{{if_failed::go_on, silent()}};
  x.pool(role::recall);
  x.route(x.r);
  x.sut.remember(parts_rig::id_of(x.r), x.r, x.now);
  BOOST_TEST(x.left_out(x.of.path.first(hook::after_answer)) == 0u);
  BOOST_TEST(x.take_sent<run_stage>().empty());
}

BOOST_AUTO_TEST_SUITE_END()
