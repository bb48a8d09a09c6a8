// SPDX-License-Identifier: Apache-2.0

// Stages on a request's path that fail, send wrong replies, or never answer.

#include "actors/told_rig.hpp"

#include <stdexcept>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using actors::role;
using core::ec;
using ipc::slot_kind;
using planning::access;
using planning::held;
using planning::hook;
using planning::if_failed;
using planning::origin;
using test::finish;
using test::prepare;
using test::told_rig;
using test::told_stage;

// Returns options with a stage at each place of the path, with this rule.
told_rig::options early(if_failed otherwise,
                        std::vector<planning::slot_use> slots = {},
                        told_stage::script says = {}) {
  return told_rig::with_behind("prepare",
                               test::told("early", hook::each_leg, otherwise,
                                          std::move(slots), std::move(says)));
}

told_rig::options grading(if_failed otherwise,
                          std::vector<planning::slot_use> slots = {}) {
  return told_rig::with_behind(
    "denoise",
    test::told("grade", hook::each_leg, otherwise, std::move(slots)));
}

told_rig::options checking(if_failed otherwise,
                           std::vector<planning::slot_use> slots = {}) {
  return told_rig::with_behind(
    "denoise",
    test::told("check", hook::before_answer, otherwise, std::move(slots)));
}

// Does all work before a stage.
actors::run_stage reach(told_rig& rig, std::string_view stage) {
  while (auto p = rig.next<prepare>())
    rig.done(p->second);
  while (auto d = rig.next<denoise>())
    rig.done(d->second);
  return rig.order(stage);
}

const std::vector<planning::slot_use> replaces_pixels{
  {held::pixels, access::replaces}};

// A rig with a route without legs, and a route of one leg. The policy takes the
// former if something near is found.
struct finding_rig : told_rig {
  explicit finding_rig(std::vector<actors::added_stage> more = {})
    : told_rig(of(std::move(more))) {
    add_worker(role::classifier, 4);
    add_worker(role::recall, 4, {});
  }

  static options of(std::vector<actors::added_stage> more) {
    actors::standard_stages own;
    told_stage::script finds;
    finds.begin =
      [](const planning::row_view& x) -> std::optional<told_stage::work> {
      return x.asked.near ? std::optional{told_stage::work{}} : std::nullopt;
    };
    finds.end = [](const told_stage::done& found, planning::facts& known) {
      known.near.emplace();
      for (uint64_t i = 1; i <= found.found; ++i)
        known.near->push_back({i, 0.9, {}, 0});
      return core::result<void>{};
    };
    told_stage::script fetches;
    fetches.begin =
      [](const planning::row_view& x) -> std::optional<told_stage::work> {
      if (x.from == nullptr)
        return std::nullopt;
      return told_stage::work{x.from->entry};
    };
    own.search =
      test::told("find", hook::before_route, if_failed::go_on, {}, finds);
    own.fetch = test::told(
      "fetch", hook::each_leg, if_failed::choose_again,
      {{held::pixels, access::writes,
        [](const planning::leg* in, bool) { return in == nullptr; }}},
      fetches, planning::place::background);
    auto o = with(test::pipeline_with(own, more));
    o.profile = test::card_profile();
    o.profile->reuse.emplace().full = core::variant_id{0};
    auto plan = std::make_shared<planning::plan>();
    planning::route drawn;
    drawn.name = "drawn";
    drawn.legs.resize(1);
    drawn.legs[0].any_of = {core::variant_id{0}};
    planning::route image;
    image.name = "picture";
    image.from = origin::image;
    plan->routes = {drawn, image};
    o.plan = plan;
    o.policy = std::make_shared<test::told_policy>(
      [](const planning::facts& known) -> planning::choice {
        if (!known.near) {
          planning::need n;
          n.near = true;
          return n;
        }
        if (known.near->empty())
          return planning::go{core::route_id{0}};
        return planning::go{core::route_id{1}, 0};
      });
    return o;
  }

  // Submits a request that finds `found` entries.
  core::request_id submit_near(uint64_t found) {
    const auto id = submit();
    on(reply(order("find"), found));
    return id;
  }

  uint64_t entry_of(const actors::run_stage& x) const {
    return (*x.order.as<told_stage::work>())->about;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_stage_faults_test)

// -- by rule ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_stage_that_may_fail_is_gone_on_without) {
  for (auto* options : {&grading, &checking})
    for (int how = 0; how < 4; ++how) {
      told_rig rig{options(if_failed::go_on, {})};
      const auto id = rig.submit();
      const auto name = rig.stages->find("grade") ? "grade" : "check";
      const auto x = reach(rig, name);
      // The stage reports a failure, replies as another stage, replies with the
      // body of another stage, or its process dies.
      auto r = told_rig::reply(x);
      if (how == 0)
        r.failure = core::fail(ec::internal, "no");
      if (how == 1)
        r.stage = 0;
      if (how == 2)
        r.outcome = core::typed_body::of(actors::finish_stage::done{});
      if (how < 3) {
        rig.on(r);
        BOOST_TEST(rig.left_out() == 1u);
      } else {
        rig.lose(told_rig::cpu);
        rig.add_cpu(rig.life(1, 2));
        rig.on(told_rig::reply(rig.order(name)));
      }
      BOOST_REQUIRE(rig.work_off());
      BOOST_TEST((rig.failure_of(id) == ec::none));
      BOOST_TEST(rig.quiet());
    }
}

BOOST_AUTO_TEST_CASE(a_stage_that_must_not_fail_fails_its_request_alone) {
  for (int how = 0; how < 3; ++how) {
    told_rig rig{checking(if_failed::fail)};
    const auto id = rig.submit();
    const auto other = rig.submit();
    auto r = told_rig::reply(reach(rig, "check"));
    const auto next = rig.order("check");
    if (how == 0)
      r.failure = core::fail(ec::internal, "unsafe");
    if (how == 1)
      r.stage = 0;
    if (how == 2)
      r.outcome = core::typed_body::of(actors::finish_stage::done{});
    rig.on(r);
    BOOST_TEST(
      (rig.failure_of(id) == (how == 2 ? ec::bad_payload : ec::internal)));
    rig.on(told_rig::reply(next));
    BOOST_REQUIRE(rig.work_off());
    BOOST_TEST((rig.failure_of(other) == ec::none));
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_stage_whose_begin_throws_follows_its_rule) {
  told_stage::script says;
  says.begin =
    [](const planning::row_view&) -> std::optional<told_stage::work> {
    throw std::runtime_error("not today");
  };
  // Without earlier work there is no other choice.
  for (const auto otherwise :
       {if_failed::fail, if_failed::go_on, if_failed::choose_again}) {
    told_rig rig{early(otherwise, {}, says)};
    const auto id = rig.submit();
    BOOST_REQUIRE(rig.work_off());
    BOOST_TEST((rig.failure_of(id)
                == (otherwise == if_failed::fail ? ec::internal : ec::none)));
    BOOST_TEST(rig.left_out() == (otherwise == if_failed::fail ? 0u : 1u));
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_stage_that_fails_for_ever_is_not_chosen_for_again) {
  told_rig rig{early(if_failed::choose_again)};
  const auto id = rig.submit();
  rig.on(told_rig::reply(reach(rig, "early"), 0, core::fail(ec::internal, "")));
  BOOST_TEST(rig.orders("early") == 0u);
  BOOST_TEST(rig.count<prepare>() == 0u);
  BOOST_TEST(rig.count<denoise>() == 1u);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
  BOOST_TEST(rig.quiet());
}

// -- slots --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_a_stage_replaces_goes_and_the_new_image_is_encoded) {
  for (auto* options : {&grading, &checking}) {
    told_rig rig{options(if_failed::fail, replaces_pixels)};
    const auto id = rig.submit();
    const auto x = reach(rig, rig.stages->find("grade") ? "grade" : "check");
    const auto written = x.writes[held::pixels];
    // It reads what it replaces.
    BOOST_TEST((x.reads[held::pixels] != written));
    BOOST_TEST(*rig.store->published(x.reads[held::pixels]) > 0u);
    BOOST_REQUIRE(rig.store->publish(written, 1, 0));
    rig.on(told_rig::reply(x));
    BOOST_TEST(rig.free_slots(slot_kind::image) == 6u);
    const auto f = rig.take<finish>();
    BOOST_TEST((f.pixels == written));
    rig.done(f);
    BOOST_TEST((rig.failure_of(id) == ec::none));
    rig.taken(id);
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_left_empty_is_a_failure) {
  for (const auto otherwise : {if_failed::fail, if_failed::go_on}) {
    told_rig rig{checking(otherwise, replaces_pixels)};
    const auto id = rig.submit();
    while (auto p = rig.next<prepare>())
      rig.done(p->second);
    const auto d = rig.take<denoise>();
    rig.done(d);
    const auto x = rig.order("check");
    rig.on(told_rig::reply(x));
    if (otherwise == if_failed::fail) {
      BOOST_TEST(rig.answer_to(id).failure.text
                 == "stage 'check' left nothing as 'pixels'");
    } else {
      // The image of before is still there.
      BOOST_TEST(rig.left_out() == 1u);
      const auto f = rig.take<finish>();
      BOOST_TEST((f.pixels == d.image));
      rig.done(f);
      rig.taken(id);
      BOOST_TEST((rig.failure_of(id) == ec::none));
    }
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_stage_that_takes_files_alone_runs_in_the_fewest_slots) {
  constexpr auto brings = [](const planning::leg*, bool x) { return x; };
  auto o = told_rig::with_behind(
    "finish", test::told("compare", hook::before_answer, if_failed::fail,
                         {{held::files, access::reads, brings}}));
  o.slots = {2, 4, 0};
  told_rig rig{std::move(o)};
  const auto id = rig.submit_image();
  while (auto p = rig.next<prepare>())
    rig.done(p->second);
  rig.done(rig.take<denoise>());
  rig.done(rig.take<finish>());
  const auto x = rig.order("compare");
  BOOST_TEST(static_cast<bool>(rig.store->view(x.reads[held::files])));
  rig.on(told_rig::reply(x));
  BOOST_TEST((rig.failure_of(id) == ec::none));
  rig.taken(id);
  BOOST_TEST(rig.quiet());
}

// -- never --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_stage_is_watched_by_what_it_says_it_takes) {
  told_stage::script says;
  says.takes = 60s;
  told_rig rig{early(if_failed::fail, {}, says)};
  rig.submit();
  reach(rig, "early");
  // The limit is eight times the time of four seats, and five seconds.
  rig.tick(1925s);
  BOOST_TEST(rig.suspects.empty());
  rig.tick(1ms);
  BOOST_TEST_REQUIRE(rig.suspects.size() == 1u);
  BOOST_TEST((rig.suspects[0] == told_rig::cpu));
}

// -- chosen again -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_cannot_be_fetched_is_chosen_for_again) {
  finding_rig rig;
  const auto id = rig.submit_near(2);
  const auto first = rig.order("fetch");
  BOOST_TEST(rig.entry_of(first) == 1u);
  rig.on(told_rig::reply(first, 0, core::fail(ec::not_found, "gone")));
  // The slot was freed; the next match is tried.
  const auto second = rig.order("fetch");
  BOOST_TEST(rig.entry_of(second) == 2u);
  BOOST_TEST(rig.free_slots(slot_kind::image) == 7u);
  // A reply that has written nothing is also a failure.
  rig.on(told_rig::reply(second));
  BOOST_TEST(rig.left_out() == 2u);
  BOOST_TEST(rig.free_slots(slot_kind::image) == 8u);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST(rig.answer_to(id).route == "drawn");
  BOOST_TEST(rig.sut->counts().hits == 0u);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(a_hit_is_counted_once_however_often_it_is_fetched) {
  for (const bool answers : {true, false}) {
    auto o = finding_rig::of({});
    auto plan = std::make_shared<planning::plan>(*o.plan);
    if (!answers) {
      auto& leg = plan->routes[1].legs.emplace_back(plan->routes[0].legs[0]);
      leg.from = origin::latent;
      leg.skip = 1;
    }
    o.plan = plan;
    told_rig rig{std::move(o)};
    rig.add_worker(role::classifier, 4);
    rig.add_worker(role::recall, 4, {});
    const auto id = rig.submit();
    rig.on(told_rig::reply(rig.order("find"), 3));
    for (int i = 0; i < 2; ++i)
      rig.on(told_rig::reply(rig.order("fetch"), 0,
                             core::fail(ec::not_found, "gone")));
    const auto last = rig.order("fetch");
    if (answers)
      BOOST_REQUIRE(rig.store->publish(last.writes[held::pixels], 1, 0));
    rig.on(told_rig::reply(last));
    BOOST_REQUIRE(rig.work_off());
    BOOST_TEST((rig.failure_of(id) == ec::none));
    BOOST_TEST(rig.sut->counts().hits == 1u);
    BOOST_TEST(rig.quiet());
  }
}

BOOST_AUTO_TEST_CASE(what_was_fetched_is_what_later_stages_read) {
  finding_rig rig{
    {{test::told("grade", hook::each_leg, if_failed::fail, replaces_pixels),
      "denoise"}}};
  const auto id = rig.submit_near(1);
  const auto found = rig.order("fetch");
  BOOST_REQUIRE(rig.store->publish(found.writes[held::pixels], 1, 0));
  rig.on(told_rig::reply(found));
  const auto x = rig.order("grade");
  BOOST_REQUIRE(rig.store->publish(x.writes[held::pixels], 1, 0));
  rig.on(told_rig::reply(x));
  const auto f = rig.take<finish>();
  BOOST_TEST((f.pixels == x.writes[held::pixels]));
  rig.done(f);
  BOOST_TEST(rig.answer_to(id).route == "picture");
  rig.taken(id);
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(an_image_is_not_fetched_where_its_slots_can_never_be) {
  auto o = finding_rig::of(
    {{test::told("grade", hook::each_leg, if_failed::fail, replaces_pixels),
      "denoise"}});
  o.slots = {4, 2, 0};
  told_rig rig{std::move(o)};
  rig.add_worker(role::classifier);
  rig.add_worker(role::recall, 4, {});
  const auto id = rig.submit();
  rig.on(told_rig::reply(rig.order("find"), 1));
  BOOST_TEST(rig.answer_to(id).failure.text
             == "route 'picture' needs 3 image slots, but only 2 exist "
                "(arena.image_slots)");
}

// -- behind others ------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_is_under_way_overtakes_what_waits_for_its_slots) {
  auto o = early(if_failed::fail);
  o.slots = {2, 8, 0};
  told_rig rig{std::move(o)};
  const auto first = rig.submit();
  const auto second = rig.submit();
  // The second request is before the first one, and waits for a state.
  rig.done(rig.take<prepare>());
  BOOST_TEST(rig.count<prepare>() == 0u);
  rig.on(told_rig::reply(rig.order("early")));
  rig.done(rig.take<denoise>());
  rig.done(rig.take<finish>());
  BOOST_TEST((rig.failure_of(first) == ec::none));
  rig.done(rig.take<prepare>());
  rig.on(told_rig::reply(rig.order("early")));
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(second) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_trial_begins_once_a_fact_is_found_beside_it) {
  told_rig rig{told_rig::with_fact(if_failed::go_on)};
  rig.add_worker(role::classifier, 4);
  const auto id = rig.submit();
  rig.on(told_rig::reply(rig.order("guess")));
  rig.take<prepare>();
  rig.lose(told_rig::cpu);
  rig.add_worker(role::classifier, 4, rig.life(1, 2));
  // Its process is busy with something else when the trial is due.
  rig.submit();
  const auto asked = rig.order("guess");
  rig.add_cpu(rig.life(1, 2));
  BOOST_TEST(rig.count<prepare>() == 0u);
  rig.on(told_rig::reply(asked));
  const auto trial = rig.take<prepare>();
  BOOST_TEST((trial.who.id == id));
  rig.done(trial);
  BOOST_REQUIRE(rig.work_off());
  BOOST_TEST((rig.failure_of(id) == ec::none));
}

BOOST_AUTO_TEST_CASE(a_suspicion_of_before_does_not_bind_beside_the_scheduler) {
  finding_rig rig;
  const core::suspicion held{core::phase::preparing, 0, 0, 1};
  for (int i = 0; i < 2; ++i)
    rig.submit([](core::request&) {}, held);
  for (int i = 0; i < 2; ++i)
    rig.on(told_rig::reply(rig.order("find"), 1));
  // Both are fetched at the same time.
  BOOST_TEST(rig.orders("fetch") == 2u);
}

// The trial waits for requests that it would delay again only while they can
// continue. Here they wait for the slots that the suspect holds.
BOOST_AUTO_TEST_CASE(a_suspect_is_tried_though_those_who_wait_were_delayed) {
  auto options = early(if_failed::fail);
  options.slots = {2, 8, 0};
  told_rig rig{options};
  rig.submit();
  rig.on(told_rig::reply(reach(rig, "early")));
  const auto steps = rig.take<denoise>();
  rig.kill(told_rig::cpu);
  rig.add_worker(role::preprocess, 1, rig.life(1, 2));
  rig.done(steps);
  rig.submit();
  const auto suspect = reach(rig, "early");
  rig.submit();
  BOOST_TEST(rig.count<prepare>() == 0u);
  rig.lose(rig.life(1, 2));
  // The new process is busy when the trial is due.
  rig.add_worker(role::postprocess, 1, rig.life(1, 3));
  const auto last = rig.take<finish>();
  rig.add_worker(role::preprocess, 1, rig.life(1, 3));
  BOOST_TEST(rig.orders("early") == 0u);
  rig.done(last);
  const auto again = rig.order("early");
  BOOST_TEST((again.ticket.id == suspect.ticket.id));
}

BOOST_AUTO_TEST_SUITE_END()
