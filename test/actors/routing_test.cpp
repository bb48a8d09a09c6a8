// SPDX-License-Identifier: Apache-2.0
#include "actors/parts_rig.hpp"
#include <atelier/actors/scheduler/routing.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::routing;
using core::ec;
using planning::origin;
using test::parts_rig;

constexpr core::variant_id four_steps{0};

// Vanilla's routes are the first two.
constexpr core::route_id from_latent{2};
constexpr core::route_id from_found{3};
constexpr core::route_id from_no_leg{4};
constexpr core::route_id of_nothing{5};

parts_rig::options with_reuse() {
  parts_rig::options o;
  o.profile = test::card_profile();
  o.profile->reuse.emplace().full = four_steps;
  o.adjust = [](planning::plan& x) {
    auto along = x.routes[0];
    along.name = "latent";
    along.legs[0].from = origin::latent;
    along.legs[0].skip = 3;
    x.routes.push_back(along);
    planning::route found;
    found.name = "found";
    found.from = origin::image;
    x.routes.push_back(found);
    along.legs[0].from = origin::stage_image;
    x.routes.push_back(along);
    found.from = origin::noise;
    x.routes.push_back(found);
  };
  return o;
}

struct rig : parts_rig {
  rig() : rig(with_reuse()) {}

  explicit rig(options o) : parts_rig(o), sut(of) {}

  routing::choice choose(actors::row& r) {
    return sut.choose(id_of(r), r, now);
  }

  // Chooses for a row of its own, and returns why it was refused.
  routing::refusal refused(core::tenant_id whose = {}) {
    const auto made = choose(accept(whose));
    BOOST_REQUIRE(std::holds_alternative<routing::refusal>(made));
    return std::get<routing::refusal>(made);
  }

  bool accepted(core::tenant_id whose = {}) {
    return std::holds_alternative<routing::chosen>(choose(accept(whose)));
  }

  void always(const planning::choice& x) {
    policy->choosing = [x](const planning::facts&) { return x; };
  }

  // A row that found earlier work with states after one, two and four steps.
  actors::row& with_match(uint32_t depth = 0, bool seeded = false) {
    auto& r = accept();
    planning::facts found;
    planning::match x;
    x.entry = 7;
    x.similarity = 0.9;
    x.stored = {1, 2, 4};
    x.depth = depth;
    x.seeded = seeded;
    x.seed = 1234;
    found.near = {x};
    r.course.learn(std::move(found));
    return r;
  }

  // The answer that reports what a row started from.
  static actors::answer noted(actors::row& r) {
    actors::answer a;
    r.account.close_with_image(a, {}, {});
    return a;
  }

  routing sut;
};

struct few_slots_rig : rig {
  few_slots_rig() : rig(few()) {}

  static options few() {
    auto o = with_reuse();
    o.slots = {1, 1, 0};
    return o;
  }
};

struct short_queue_rig : rig {
  short_queue_rig() : rig(short_queue()), w(device(2)) {
    waits_to_draw();
  }

  static options short_queue() {
    auto o = with_reuse();
    o.limits.queue = 30ms;
    return o;
  }

  actors::worker& w;
};

struct full_queue_rig : rig {
  full_queue_rig() : rig(full_queue()) {
    measure(four_steps, device(2));
    waits_to_draw();
  }

  static options full_queue() {
    auto o = with_reuse();
    o.limits.queue = 47ms;
    return o;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(routing_test, rig)

// -- what the policy says -----------------------------------------------------

BOOST_AUTO_TEST_CASE(policy_that_asks_gets_its_question_back) {
  planning::need wants;
  wants.tolerated = true;
  always(wants);
  auto& r = accept();
  const auto made = choose(r);
  BOOST_TEST_REQUIRE(std::holds_alternative<planning::need>(made));
  BOOST_TEST((std::get<planning::need>(made) == wants));
  BOOST_TEST(!r.course.has_route());
  BOOST_TEST(of.records.counts().searched == 0u);
  wants.near = true;
  always(wants);
  choose(r);
  BOOST_TEST(of.records.counts().searched == 1u);
}

BOOST_AUTO_TEST_CASE(policy_that_never_stops_asking_is_refused) {
  always(planning::need{});
  auto& r = accept();
  for (int i = 0; i < 4; ++i)
    BOOST_TEST(std::holds_alternative<planning::need>(choose(r)));
  const auto made = choose(r);
  BOOST_TEST_REQUIRE(std::holds_alternative<routing::refusal>(made));
  const auto& why = std::get<routing::refusal>(made).why;
  BOOST_TEST((why.code == ec::internal));
  BOOST_TEST(why.text == "policy vanilla never stops asking for facts");
}

BOOST_AUTO_TEST_CASE(policys_refusal_is_the_rows) {
  always(planning::refuse{core::fail(ec::unavailable, "not now"), 3s});
  const auto no = refused();
  BOOST_TEST((no.why.code == ec::unavailable));
  BOOST_TEST(no.why.text == "not now");
  BOOST_TEST((no.retry_after == 3s));
}

BOOST_AUTO_TEST_CASE(route_that_cannot_begin_is_a_fault_of_the_policy) {
  for (const auto along :
       {core::route_id{99}, from_found, from_no_leg, of_nothing}) {
    always(planning::go{along, 0u});
    const auto no = refused();
    BOOST_TEST((no.why.code == ec::internal));
    BOOST_TEST(no.why.text == "policy vanilla chose no route that can be run");
  }
}

BOOST_AUTO_TEST_CASE(row_has_the_route_that_was_chosen) {
  always(planning::go{core::route_id{1}, {}});
  auto& r = accept();
  const auto made = choose(r);
  BOOST_TEST_REQUIRE(std::holds_alternative<routing::chosen>(made));
  BOOST_TEST(!std::get<routing::chosen>(made).found);
  BOOST_TEST_REQUIRE(r.course.has_route());
  BOOST_TEST(r.course.route().name == "card@2");
}

BOOST_AUTO_TEST_CASE(found_image_is_a_route_if_its_match_is_there) {
  always(planning::go{from_found, 0u});
  auto& r = with_match();
  const auto made = choose(r);
  BOOST_TEST_REQUIRE(std::holds_alternative<routing::chosen>(made));
  BOOST_TEST(std::get<routing::chosen>(made).found);
  always(planning::go{from_found, 1u});
  BOOST_TEST(std::holds_alternative<routing::refusal>(choose(with_match())));
  always(planning::go{of_nothing, 0u});
  BOOST_TEST(std::holds_alternative<routing::refusal>(choose(with_match())));
  always(planning::go{from_found, {}});
  BOOST_TEST(std::holds_alternative<routing::refusal>(choose(with_match())));
}

// -- what fits ----------------------------------------------------------------

BOOST_FIXTURE_TEST_CASE(route_that_needs_more_slots_than_exist_is_refused,
                        few_slots_rig) {
  const auto no = refused();
  BOOST_TEST((no.why.code == ec::out_of_resources));
  BOOST_TEST(no.why.text.find("route 'card@4' needs") == 0u);
  BOOST_TEST((no.retry_after == 0s));
}

BOOST_AUTO_TEST_CASE(route_that_no_device_loads_is_refused_until_its_attempt) {
  auto& w = device(2, [](actors::worker_ready& x) { x.variants = {"card@2"}; });
  fail_to_load(w, four_steps);
  now += 400ms;
  const auto no = refused();
  BOOST_TEST((no.why.code == ec::unavailable));
  BOOST_TEST(no.why.text.find("no such file") != std::string::npos);
  BOOST_TEST((no.retry_after == 600ms));
}

BOOST_FIXTURE_TEST_CASE(row_is_refused_while_too_much_work_waits,
                        short_queue_rig) {
  measure(four_steps, w);
  const auto no = refused();
  BOOST_TEST((no.why.code == ec::overloaded));
  BOOST_TEST(no.why.text.find("limits.queue_s") != std::string::npos);
  BOOST_TEST((no.retry_after >= 1s));
}

BOOST_FIXTURE_TEST_CASE(row_is_not_refused_on_a_guess, short_queue_rig) {
  BOOST_TEST(accepted());
}

BOOST_FIXTURE_TEST_CASE(row_is_accepted_while_the_work_is_within_the_limit,
                        full_queue_rig) {
  BOOST_TEST(accepted());
  waits_to_draw();
  BOOST_TEST(!accepted());
}

BOOST_AUTO_TEST_CASE(plan_admits_so_many_rows) {
  follow([](planning::plan& x) {
    x.admitted_rates = {0.4};
    x.retry_after = 1s;
  });
  // Four at once, of which rows of normal priority leave one.
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(accepted());
  const auto no = refused();
  BOOST_TEST((no.why.code == ec::overloaded));
  BOOST_TEST(no.why.text.find("than the plan admits") != std::string::npos);
  BOOST_TEST((no.retry_after == 2500ms));
  follow([](planning::plan& x) {
    x.admitted_rates = {0.4};
    x.retry_after = 9s;
  });
  BOOST_TEST((refused().retry_after == 9s));
}

BOOST_AUTO_TEST_CASE(tenant_below_its_share_is_admitted_nevertheless) {
  follow([](planning::plan& x) { x.admitted_rates = {0.4}; });
  constexpr core::tenant_id crowd{1};
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(accepted(crowd));
  BOOST_TEST(!accepted(crowd));
  BOOST_TEST(accepted(core::tenant_id{2}));
}

BOOST_AUTO_TEST_CASE(rates_that_were_planned_with_a_guess_limit_nothing) {
  profile->variants[0].guessed = true;
  follow([](planning::plan& x) { x.admitted_rates = {0.4}; });
  for (int i = 0; i < 9; ++i)
    BOOST_TEST(accepted());
}

BOOST_AUTO_TEST_CASE(found_image_needs_no_admission) {
  follow([](planning::plan& x) {
    x.admitted_rates = {0.4};
    planning::route found;
    found.from = origin::image;
    x.routes = {x.routes[0], found};
  });
  for (int i = 0; i < 3; ++i)
    accepted();
  always(planning::go{core::route_id{1}, 0u});
  BOOST_TEST(std::holds_alternative<routing::chosen>(choose(with_match())));
}

BOOST_AUTO_TEST_CASE(first_known_mask_makes_views_list_rows) {
  auto& w = device(2);
  draws_at(w);
  const auto rows = [&] {
    return of.views.cluster().workers.front().rows.size();
  };
  accepted();
  BOOST_TEST(rows() == 0u);
  auto& edit = accept(&parts_rig::bring_image);
  planning::facts found;
  found.mask.emplace().ratio = 0.25;
  edit.course.learn(std::move(found));
  choose(edit);
  BOOST_TEST(edit.course.masked() == 0.25);
  BOOST_TEST(rows() == 1u);
}

BOOST_AUTO_TEST_CASE(request_beyond_the_bounds_comes_back_by_the_plan) {
  follow([](planning::plan& x) { x.retry_after = 90s; });
  BOOST_TEST((sut.retry_after() == 90s));
  follow([](planning::plan& x) { x.retry_after = 0s; });
  BOOST_TEST((sut.retry_after() >= 1s));
}

// -- what a choice leaves out -------------------------------------------------

BOOST_AUTO_TEST_CASE(steps_that_a_route_leaves_out_are_counted_once) {
  auto& r = with_match();
  route(r, from_latent);
  sut.count_choice(r);
  sut.count_choice(r);
  const auto& counts = of.records.counts();
  BOOST_TEST(counts.hits == 1u);
  BOOST_TEST_REQUIRE(counts.skips.size() == 1u);
  BOOST_TEST(counts.skips[0].first == 2u);
  auto& noise = with_match();
  route(noise);
  sut.count_choice(noise);
  BOOST_TEST(counts.hits == 1u);
}

BOOST_AUTO_TEST_CASE(edits_are_counted_by_their_mask) {
  auto& r = accept(&parts_rig::bring_image);
  route(r);
  sut.count_choice(r);
  uint64_t edits = 0;
  for (const auto n : of.records.counts().edits)
    edits += n;
  BOOST_TEST(edits == 1u);
}

BOOST_AUTO_TEST_CASE(earlier_work_is_noted_for_the_client) {
  auto& r = with_match();
  route(r, from_latent);
  sut.note_reuse(r);
  const auto seed = r.course.recipe().seed;
  const auto a = noted(r);
  BOOST_TEST_REQUIRE(a.reused.has_value());
  BOOST_TEST(a.reused->entry == 7u);
  BOOST_TEST(a.reused->steps == 2u);
  BOOST_TEST_REQUIRE(a.notes.size() == 1u);
  BOOST_TEST((a.notes[0].code == core::note_code::from_cache));
  BOOST_TEST(a.notes[0].text
             == "The image started from the state of an earlier image and left "
                "out 2 of 4 steps (route 'latent', entry 7, similarity 0.900). "
                "Its seed alone does not make it.");
  BOOST_TEST(seed == r.request->seed);
}

BOOST_AUTO_TEST_CASE(image_of_the_earlier_seed_gets_that_seed) {
  auto& r = with_match(0, true);
  route(r, from_latent);
  sut.note_reuse(r);
  BOOST_TEST(r.course.recipe().seed == 1234u);
  BOOST_TEST(noted(r).notes.at(0).text.find(
               "Its seed is that of the earlier image and makes it again.")
             != std::string::npos);
  // What was itself made of earlier work has no such seed.
  auto& later = with_match(1, true);
  route(later, from_latent);
  sut.note_reuse(later);
  BOOST_TEST(later.course.recipe().seed == later.request->seed);
}

BOOST_AUTO_TEST_CASE(image_from_noise_is_noted_as_such) {
  auto& r = with_match();
  route(r, from_latent);
  sut.note_reuse(r);
  route(r);
  sut.note_reuse(r);
  const auto a = noted(r);
  BOOST_TEST(!a.reused.has_value());
  BOOST_TEST(a.notes.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
