// SPDX-License-Identifier: Apache-2.0

// Dispatches that move no row: facts before a route, and work after an answer.

#include "actors/told_rig.hpp"

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using core::ec;
using planning::access;
using planning::held;
using planning::hook;
using planning::if_failed;
using test::prepare;
using test::told_policy;
using test::told_rig;
using test::told_stage;

// Returns a script that enters the found number as a tolerated level.
told_stage::script tolerating() {
  told_stage::script x;
  x.end = [](const told_stage::done& found, planning::facts& known) {
    if (found.found == 0)
      return core::result<void>{core::fail(ec::bad_payload, "nothing there")};
    known.tolerated = std::vector<uint32_t>{static_cast<uint32_t>(found.found)};
    return core::result<void>{};
  };
  return x;
}

struct required_rig : told_rig {
  required_rig() : told_rig(with_fact(if_failed::fail, {}, tolerating(), 2s)) {}
};

struct optional_rig : told_rig {
  optional_rig()
    : told_rig(with_fact(if_failed::go_on, {}, tolerating(), 2s)) {}
};

planning::stage_ptr keeping(std::vector<planning::slot_use> slots,
                            if_failed otherwise = if_failed::go_on) {
  return test::told("keep", hook::after_answer, otherwise, std::move(slots));
}

// A rig with a stage after the answer that reads slots.
struct keeping_rig : told_rig {
  explicit keeping_rig(std::vector<planning::slot_use> slots,
                       uint32_t images = 8)
    : told_rig(few(std::move(slots), images)) {}

  static options few(std::vector<planning::slot_use> slots, uint32_t images) {
    auto o = with_behind("", keeping(std::move(slots)));
    o.slots = {4, images, 0};
    return o;
  }

  // Answers everything in progress except the stage itself.
  void answer_all() {
    while (auto p = next<prepare>())
      done(p->second);
    while (auto d = next<actors::denoise>())
      done(d->second);
    while (auto f = next<test::finish>())
      done(f->second);
  }
};

// Returns options with one route, which captures the states after steps 1 and
// 2, and a stage after the answer that reads them.
told_rig::options capturing(uint32_t slots, bool keeps) {
  auto o = keeping_rig::few({{held::capture, access::reads}}, 8);
  o.slots = {4, 8, slots};
  auto plan = std::make_shared<planning::plan>();
  auto& along = plan->routes.emplace_back();
  along.name = "drawn";
  along.store.latents = keeps;
  auto& leg = along.legs.emplace_back();
  leg.any_of = {core::variant_id{0}};
  leg.capture = {1, 2};
  o.plan = plan;
  o.policy = std::make_shared<test::told_policy>(
    [](const planning::facts&) -> planning::choice {
      return planning::go{core::route_id{0}};
    });
  return o;
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_aside_test)

// -- seats --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_fact_takes_a_seat_and_gives_it_back) {
  optional_rig rig;
  rig.add_worker(role::classifier);
  rig.submit();
  const auto asked = rig.order("guess");
  BOOST_TEST(rig.count<prepare>() == 0u);
  // The only seat is taken, so the second request continues without the stage.
  rig.submit();
  BOOST_TEST(rig.orders("guess") == 0u);
  BOOST_TEST(rig.count<prepare>() == 1u);
  BOOST_TEST(rig.left_out() == 1u);
  rig.on(told_rig::reply(asked, 3));
  BOOST_TEST(rig.count<prepare>() == 2u);
  rig.submit();
  BOOST_TEST(rig.orders("guess") == 1u);
  BOOST_TEST(rig.left_out() == 1u);
}

BOOST_AUTO_TEST_CASE(what_was_found_is_told_with_the_answer) {
  optional_rig rig;
  rig.add_worker(role::classifier);
  const auto id = rig.submit();
  rig.on(told_rig::reply(rig.order("guess"), 3));
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.answer_to(id).tolerated == std::vector<uint32_t>{3}));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(without_anybody_for_it_a_fact_is_left_out) {
  optional_rig rig;
  const auto id = rig.submit();
  BOOST_TEST(rig.left_out() == 1u);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(without_anybody_for_a_required_fact_it_is_turned_away) {
  required_rig rig;
  const auto id = rig.submit();
  BOOST_TEST((rig.failure_of(id) == ec::unavailable));
  BOOST_TEST(rig.answer_to(id).failure.text
             == "no worker is free for stage 'guess'");
  BOOST_TEST(rig.sut->counts().refused == 1u);
  BOOST_TEST(rig.quiet());
}

// -- time ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_fact_that_is_late_is_gone_on_without) {
  optional_rig rig;
  rig.add_worker(role::classifier);
  const auto id = rig.submit();
  const auto asked = rig.order("guess");
  BOOST_TEST((asked.left == 2s));
  rig.tick(1999ms);
  BOOST_TEST(rig.count<prepare>() == 0u);
  rig.tick(1ms);
  BOOST_TEST(rig.count<prepare>() == 1u);
  BOOST_TEST(rig.sut->counts().facts_late == 1u);
  const auto stale = rig.sut->counts().stale_replies;
  rig.on(told_rig::reply(asked, 3));
  BOOST_TEST(rig.sut->counts().stale_replies == stale + 1);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST(!rig.answer_to(id).tolerated.has_value());
  // The reply freed the seat nevertheless.
  rig.submit();
  BOOST_TEST(rig.orders("guess") == 1u);
}

BOOST_AUTO_TEST_CASE(a_required_fact_that_is_late_turns_the_request_away) {
  required_rig rig;
  rig.add_worker(role::classifier);
  const auto id = rig.submit();
  const auto asked = rig.order("guess");
  rig.tick(2s);
  BOOST_TEST((rig.failure_of(id) == ec::unavailable));
  BOOST_TEST(rig.answer_to(id).failure.text
             == "stage 'guess' did not answer in time");
  rig.on(told_rig::reply(asked, 3));
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(facts_of_one_question_do_not_answer_the_next) {
  told_stage::script says;
  says.begin =
    [](const planning::row_view& of) -> std::optional<told_stage::work> {
    if (of.asked.near)
      return told_stage::work{1};
    if (of.asked.tolerated)
      return told_stage::work{2};
    return std::nullopt;
  };
  says.end = [](const told_stage::done& found, planning::facts& known) {
    if (found.found == 1)
      known.near.emplace(1);
    else
      known.tolerated = std::vector<uint32_t>{7};
    return core::result<void>{};
  };
  auto o = told_rig::with_fact(if_failed::go_on, {}, says, 2s);
  std::vector<planning::facts> chosen_by;
  o.policy = std::make_shared<test::told_policy>(
    [&](const planning::facts& known) -> planning::choice {
      planning::need n;
      n.near = !known.near;
      n.tolerated = known.near && !known.tolerated;
      if (n.near || n.tolerated)
        return n;
      chosen_by.push_back(known);
      return planning::go{core::route_id{0}};
    });
  told_rig rig{std::move(o)};
  rig.add_worker(role::classifier, 4);
  rig.submit();
  const auto first = rig.order("guess");
  rig.tick(2s);
  const auto second = rig.order("guess");
  rig.on(told_rig::reply(first, 1));
  BOOST_TEST(chosen_by.empty());
  rig.on(told_rig::reply(second, 2));
  BOOST_TEST_REQUIRE(chosen_by.size() == 1u);
  BOOST_TEST(chosen_by[0].near->empty());
  BOOST_TEST((chosen_by[0].tolerated == std::vector<uint32_t>{7}));
}

// -- what goes wrong ----------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_fact_that_lies_is_no_fact) {
  for (int how = 0; how < 3; ++how)
    for (const bool required : {false, true}) {
      told_rig rig{told_rig::with_fact(
        required ? if_failed::fail : if_failed::go_on, {}, tolerating(), 2s)};
      rig.add_worker(role::classifier);
      const auto id = rig.submit();
      // The reply has the number of another stage, the body of another stage,
      // or an outcome that cannot be entered.
      auto lie = told_rig::reply(rig.order("guess"), how == 2 ? 0 : 3);
      if (how == 0)
        lie.stage = 1;
      if (how == 1)
        lie.outcome = core::typed_body::of(actors::finish_stage::done{});
      rig.on(lie);
      BOOST_TEST(rig.left_out() == 1u);
      BOOST_REQUIRE(rig.work_off());
      BOOST_TEST((rig.failure_of(id)
                  == (!required  ? ec::none
                      : how == 0 ? ec::internal
                                 : ec::bad_payload)));
      BOOST_TEST(!rig.answer_to(id).tolerated.has_value());
      BOOST_TEST(rig.quiet());
    }
}

BOOST_AUTO_TEST_CASE(a_fact_whose_begin_throws_is_left_out) {
  told_stage::script says;
  says.begin =
    [](const planning::row_view&) -> std::optional<told_stage::work> {
    throw std::runtime_error("not today");
  };
  told_rig rig{told_rig::with_fact(if_failed::go_on, {}, says)};
  told_rig strict{told_rig::with_fact(if_failed::fail, {}, says)};
  for (auto* x : {&rig, &strict}) {
    x->add_worker(role::classifier);
    const auto id = x->submit();
    BOOST_TEST(x->left_out() == 1u);
    BOOST_REQUIRE(x->work_off());
    BOOST_TEST((x->failure_of(id) == (x == &rig ? ec::none : ec::internal)));
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_dies_of_a_fact_leaves_it_out) {
  for (const bool required : {false, true}) {
    told_rig rig{told_rig::with_fact(
      required ? if_failed::fail : if_failed::go_on, {}, tolerating(), 2s)};
    rig.add_worker(role::classifier, 1, rig.life(3));
    const auto id = rig.submit();
    rig.order("guess");
    rig.lose(rig.life(3));
    BOOST_REQUIRE(rig.work_off());
    BOOST_TEST((rig.failure_of(id) == (required ? ec::unavailable : ec::none)));
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_fact_that_never_comes_has_its_process_suspected) {
  told_stage::script says;
  says.takes = 1s;
  told_rig rig{told_rig::with_fact(if_failed::go_on, {}, says, 2s)};
  rig.add_worker(role::classifier, 1, rig.life(3));
  rig.submit();
  rig.order("guess");
  // The request continues without the fact.
  rig.tick(2s);
  BOOST_REQUIRE(rig.work_off());
  // The allowance is eight times the stage's time, and five seconds.
  rig.tick(11s);
  BOOST_TEST(rig.suspects.empty());
  rig.tick(1ms);
  BOOST_TEST_REQUIRE(rig.suspects.size() == 1u);
  BOOST_TEST((rig.suspects[0] == rig.life(3)));
  BOOST_TEST(rig.reasons[0].starts_with("classifier"));
}

// -- slots --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(files_are_read_where_two_slots_are_free) {
  constexpr auto brings = [](const planning::leg*, bool x) { return x; };
  auto o = told_rig::with_fact(if_failed::go_on,
                               {{held::files, access::reads, brings}});
  o.slots = {4, 3, 0};
  told_rig rig{std::move(o)};
  rig.add_worker(role::classifier, 4);
  rig.submit_image();
  const auto first = rig.order("guess");
  BOOST_TEST(static_cast<bool>(rig.store->view(first.reads[held::files])));
  rig.submit_image();
  const auto second = rig.order("guess");
  // One slot must stay free. So the third request continues without the stage,
  // and does not wait.
  rig.submit_image();
  BOOST_TEST(rig.orders("guess") == 0u);
  BOOST_TEST(rig.left_out() == 1u);
  rig.on(told_rig::reply(first));
  rig.on(told_rig::reply(second));
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(an_answer_does_not_wait_for_what_follows_it) {
  keeping_rig rig{{{held::pixels, access::reads}}};
  const auto id = rig.submit();
  rig.answer_all();
  BOOST_TEST((rig.failure_of(id) == ec::none));
  const auto x = rig.order("keep");
  rig.taken(id);
  // The pixels stay until the stage is done.
  BOOST_TEST(static_cast<bool>(rig.store->view(x.reads[held::pixels])));
  BOOST_TEST(rig.free_slots(ipc::slot_kind::image) == 7u);
  rig.on(told_rig::reply(x));
  BOOST_TEST(rig.quiet());
  BOOST_TEST(rig.left_out() == 0u);
}

BOOST_AUTO_TEST_CASE(what_follows_an_answer_fails_alone) {
  for (int how = 0; how < 3; ++how) {
    keeping_rig rig{{{held::pixels, access::reads}}};
    const auto id = rig.submit();
    rig.answer_all();
    const auto x = rig.order("keep");
    if (how == 0)
      rig.on(told_rig::reply(x, 0, core::fail(ec::io_failed, "full")));
    else if (how == 1)
      rig.on([&] {
        auto lie = told_rig::reply(x);
        lie.stage = 0;
        return lie;
      }());
    else
      rig.lose(told_rig::cpu);
    BOOST_TEST(rig.left_out() == 1u);
    BOOST_TEST((rig.failure_of(id) == ec::none));
    rig.taken(id);
    BOOST_TEST(rig.quiet());
  }
}

// Otherwise a run whose states are not kept would take the slots of one whose
// states are kept.
BOOST_AUTO_TEST_CASE(states_are_captured_for_routes_that_keep_them) {
  for (const bool keeps : {true, false}) {
    told_rig rig{capturing(4, keeps)};
    rig.submit();
    while (auto p = rig.next<prepare>())
      rig.done(p->second);
    const auto d = rig.take<actors::denoise>();
    BOOST_TEST(d.captures.size() == (keeps ? 2u : 0u));
    BOOST_TEST(rig.free_slots(ipc::slot_kind::capture) == (keeps ? 2u : 4u));
  }
}

BOOST_AUTO_TEST_CASE(a_state_without_a_slot_counts_once_however_often_ordered) {
  for (const uint32_t steps : {0u, 1u}) {
    told_rig rig{capturing(1, true)};
    rig.submit();
    rig.done(rig.take<prepare>());
    const auto first = rig.take<actors::denoise>();
    BOOST_REQUIRE(first.captures.size() == 1u);
    BOOST_TEST(first.captures[0].steps == 2u);
    rig.stepping({first.ticket});
    if (steps > 0)
      rig.stepped(first, steps);
    rig.kill(told_rig::device);
    rig.add_device(told_rig::life(2, 2));
    const auto again = rig.take<actors::denoise>();
    BOOST_TEST(again.steps_done == steps);
    BOOST_REQUIRE(again.captures.size() == 1u);
    BOOST_TEST(again.captures[0].steps == 2u);
    BOOST_TEST(rig.sut->counts().captures_without_slot == 0u);
    rig.done(again);
    BOOST_TEST(rig.sut->counts().captures_without_slot == 1u);
  }
}

BOOST_AUTO_TEST_CASE(what_follows_an_answer_is_left_out_without_a_slot) {
  constexpr auto brings = [](const planning::leg*, bool x) { return x; };
  keeping_rig rig{{{held::files, access::reads, brings}}, 3};
  const auto id = rig.submit_image();
  rig.answer_all();
  BOOST_TEST((rig.failure_of(id) == ec::none));
  // The image and its file are held, and one more slot must stay free.
  BOOST_TEST(rig.orders("keep") == 0u);
  BOOST_TEST(rig.left_out() == 1u);
  rig.taken(id);
  BOOST_TEST(rig.quiet());
}

namespace {

/// A fact that only the test's stage and policy know.
struct words {
  uint64_t count = 0;
};

/// A policy that asks for the words of each prompt, and notes what it reads.
struct words_rig : told_rig {
  explicit words_rig(std::vector<std::optional<uint64_t>>& read)
    : told_rig(options_for(read)) {}

  static options options_for(std::vector<std::optional<uint64_t>>& read) {
    told_stage::script says;
    says.begin = [](const planning::row_view& of) {
      return of.asked.wants("guess") ? std::optional{told_stage::work{}}
                                     : std::nullopt;
    };
    says.end = [](const told_stage::done& x,
                  planning::facts& known) -> core::result<void> {
      known.own.set(words{x.found});
      return {};
    };
    auto out = with_fact(if_failed::go_on, {}, says);
    out.policy =
      std::make_shared<told_policy>([&read](const planning::facts& known) {
        const auto* found = known.own.find<words>();
        if (found == nullptr && !known.own.tried("guess")) {
          planning::need wanted;
          wanted.of = {"guess"};
          return planning::choice{wanted};
        }
        read.push_back(found == nullptr ? std::nullopt
                                        : std::optional{found->count});
        return planning::choice{planning::go{core::route_id{0}}};
      });
    return out;
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_policy_reads_a_fact_of_a_stage_s_own) {
  std::vector<std::optional<uint64_t>> read;
  words_rig rig{read};
  rig.add_worker(role::classifier);
  const auto id = rig.submit();
  const auto asked = rig.order("guess");
  BOOST_TEST(read.empty());
  rig.on(told_rig::reply(asked, 13));
  BOOST_TEST((read == std::vector<std::optional<uint64_t>>{13}));
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_policy_asks_once_for_a_fact_that_no_stage_finds) {
  std::vector<std::optional<uint64_t>> read;
  words_rig rig{read};
  const auto without = rig.submit();
  BOOST_TEST((read == std::vector<std::optional<uint64_t>>{std::nullopt}));
  rig.add_worker(role::classifier);
  const auto failed = rig.submit();
  rig.on(told_rig::reply(rig.order("guess"), 0,
                         core::fail(ec::internal, "no words")));
  BOOST_TEST(read.size() == 2u);
  BOOST_TEST(!read.back().has_value());
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(without) == ec::none));
  BOOST_TEST((rig.failure_of(failed) == ec::none));
}

BOOST_AUTO_TEST_SUITE_END()
