// SPDX-License-Identifier: Apache-2.0
#include "support/stage_orders.hpp"
#include <atelier/actors/scheduler/course.hpp>
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace atelier;
using planning::held;
using planning::origin;

constexpr core::variant_id light{0};
constexpr core::variant_id heavy{1};
constexpr core::variant_id other{2};

planning::profile profile() {
  planning::profile p;
  for (const auto* name : {"light", "heavy", "other"}) {
    planning::variant_profile v;
    v.name = name;
    v.steps = 10;
    p.variants.push_back(v);
  }
  p.variants[other.value].latent_channels = 16;
  p.reuse.emplace();
  p.reuse->full = heavy;
  return p;
}

planning::leg leg_of(std::vector<core::variant_id> any_of,
                     origin from = origin::noise, uint32_t skip = 0) {
  planning::leg x;
  x.any_of = std::move(any_of);
  x.from = from;
  x.skip = skip;
  return x;
}

planning::match stored(std::vector<uint32_t> steps, uint64_t entry = 7) {
  planning::match x;
  x.entry = entry;
  x.similarity = 0.9;
  x.stored = std::move(steps);
  return x;
}

struct rig {
  core::request wanted;
  planning::profile costs = profile();
  actors::course sut;
  actors::holding nothing;

  rig() {
    wanted.id = core::request_id{1};
  }

  /// Chooses a route of these legs.
  void follow(std::vector<planning::leg> legs,
              planning::late_rule late = planning::late_rule::answer_best,
              origin from = origin::noise) {
    planning::plan p;
    planning::route along;
    along.name = "any";
    along.legs = std::move(legs);
    along.late = late;
    along.from = from;
    p.routes = {along};
    const auto plan = std::make_shared<const planning::plan>(std::move(p));
    const auto slots = std::make_shared<const planning::route_slots>(
      test::standard_stages(), plan->routes);
    sut.begin(wanted, costs, plan, slots);
    sut.choose(core::route_id{0}, std::nullopt, plan, slots);
  }

  /// Returns what a request holds after a stage made pixels for its leg to
  /// start from.
  static actors::holding with_start() {
    const auto store = std::make_shared<ipc::heap_store>(
      1, actors::slot_counts{1, 1, 0}, std::array<uint64_t, 3>{64, 64, 0});
    actors::slots all{1, {1, 1, 0}, store};
    constexpr core::ticket who{core::request_id{1}, 1};
    all.grant(who, {}, {held::pixels}, {});
    const auto done = all.conclude(who);
    BOOST_REQUIRE(store->publish(done.granted[held::pixels], 1, 0));
    actors::holding out;
    BOOST_REQUIRE(all.keep(out, done, core::phase::preparing, "any", 0));
    return out;
  }

  void find(std::vector<planning::match> near) {
    planning::facts found;
    found.near = std::move(near);
    sut.learn(std::move(found));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(course_test, rig)

BOOST_AUTO_TEST_CASE(no_route_is_chosen_at_first) {
  planning::plan p;
  p.routes.resize(1);
  sut.begin(wanted, costs, std::make_shared<const planning::plan>(p), nullptr);
  BOOST_TEST(!sut.has_route());
  BOOST_TEST((sut.view(nothing, {}).route == nullptr));
  follow({leg_of({light})});
  BOOST_TEST(sut.has_route());
}

BOOST_AUTO_TEST_CASE(a_route_is_walked_leg_by_leg) {
  follow({leg_of({light}), leg_of({heavy}, origin::stage_image)});
  BOOST_TEST(std::get<planning::run_leg>(sut.next()).leg == 0u);
  sut.begin_leg(0);
  BOOST_TEST((sut.recipe().variant == light));
  BOOST_TEST(sut.running_leg() == &sut.route().legs[0]);
  sut.end_leg(core::ec::none);
  BOOST_TEST(std::get<planning::run_leg>(sut.next()).leg == 1u);
  sut.begin_leg(1);
  BOOST_TEST((sut.recipe().variant == heavy));
  sut.end_leg(core::ec::none);
  BOOST_TEST(std::holds_alternative<planning::answer_with>(sut.next()));
  sut.finish();
  BOOST_TEST(sut.answering());
  BOOST_TEST(sut.running_leg() == nullptr);
  BOOST_TEST((sut.recipe().variant == heavy));
}

BOOST_AUTO_TEST_CASE(the_answer_was_drawn_by_the_last_leg_with_an_image) {
  follow({leg_of({light}), leg_of({heavy}, origin::stage_image)});
  sut.begin_leg(0);
  sut.end_leg(core::ec::none);
  sut.begin_leg(1);
  BOOST_TEST(std::holds_alternative<planning::answer_with>(sut.late()));
  sut.end_leg(core::ec::unavailable);
  sut.finish();
  BOOST_TEST((sut.recipe().variant == light));
}

BOOST_AUTO_TEST_CASE(no_image_is_answered_before_there_is_one) {
  follow({leg_of({light})});
  sut.begin_leg(0);
  BOOST_TEST(std::holds_alternative<planning::give_up>(sut.late()));
  sut.end_leg(core::ec::internal);
  BOOST_TEST(
    (std::get<planning::give_up>(sut.next()).why == core::ec::internal));
}

BOOST_AUTO_TEST_CASE(unknown_facts_are_assumed_once) {
  planning::need asked;
  asked.tolerated = asked.hit_likely = asked.near = asked.mask = true;
  sut.assume(asked);
  BOOST_TEST(sut.known().tolerated->empty());
  BOOST_TEST(sut.known().near->empty());
  BOOST_TEST(*sut.known().hit_likely);
  find({stored({5})});
  sut.assume(asked);
  BOOST_TEST(sut.known().near->size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_lost_match_is_not_chosen_again) {
  follow({leg_of({heavy}, origin::latent, 5)});
  find({stored({5}, 1), stored({3}, 2)});
  BOOST_TEST(sut.match()->entry == 1u);
  sut.lose_match();
  BOOST_TEST(sut.match()->entry == 2u);
  sut.lose_match();
  BOOST_TEST(sut.match() == nullptr);
  sut.lose_match();
}

BOOST_AUTO_TEST_CASE(a_latent_saves_the_most_stored_steps_that_fit) {
  follow({leg_of({heavy}, origin::latent, 6)});
  BOOST_TEST(sut.saved_by(heavy, 0, false) == 0u);
  find({stored({2, 5, 8})});
  sut.begin_leg(0);
  BOOST_TEST(sut.saved() == 5u);
  BOOST_TEST(sut.steps_left(0) == 5u);
  BOOST_TEST(sut.steps_left(7) == 3u);
  BOOST_TEST(*sut.skips() == 5u);
  // Its state had more steps when it was fetched.
  sut.has_state(6);
  BOOST_TEST(sut.saved() == 6u);
  sut.starts_with(0);
  BOOST_TEST(sut.saved() == 0u);
  BOOST_TEST(!sut.reuse(false).has_value());
}

BOOST_AUTO_TEST_CASE(the_level_of_the_worker_decides_where_the_leg_says_so) {
  auto leg = leg_of({heavy}, origin::noise);
  leg.level_of_worker = true;
  follow({leg});
  find({stored({2, 5})});
  BOOST_TEST(sut.saved_by(heavy, 4, false) == 2u);
  BOOST_TEST(sut.saved_by(heavy, 0, false) == 0u);
  BOOST_TEST(!sut.skips().has_value());
}

BOOST_AUTO_TEST_CASE(a_leg_runs_by_a_variant_that_its_worker_hosts) {
  follow({leg_of({light, heavy})});
  sut.begin_leg(0);
  const std::vector hosting{heavy};
  BOOST_TEST((sut.variant_on(hosting, 0) == heavy));
  BOOST_TEST((sut.variant_on({}, 0) == light));
  // What ran by a variant continues with it.
  BOOST_TEST((sut.variant_on(hosting, 3) == light));
  sut.run_by(heavy, false);
  BOOST_TEST((sut.recipe().variant == heavy));
}

BOOST_AUTO_TEST_CASE(a_leg_prepared_anew_is_bound_to_its_variant) {
  follow({leg_of({light, other})});
  sut.begin_leg(0);
  BOOST_TEST(sut.is_prepared_for(light));
  BOOST_TEST(sut.is_prepared_for(heavy));
  BOOST_TEST(!sut.is_prepared_for(other));
  sut.prepare_for(other);
  BOOST_TEST(sut.is_bound());
  const std::vector hosting{light};
  BOOST_TEST((sut.variant_on(hosting, 0) == other));
  sut.begin_leg(0);
  BOOST_TEST(!sut.is_bound());
}

BOOST_AUTO_TEST_CASE(a_found_image_answers_with_the_recipe_of_kept_work) {
  follow({}, planning::late_rule::answer_best, origin::image);
  find({stored({})});
  sut.take_found();
  BOOST_TEST((sut.recipe().variant == heavy));
  BOOST_TEST(*sut.skips() == sut.recipe().steps);
  sut.found_image();
  BOOST_TEST(std::holds_alternative<planning::answer_with>(sut.next()));
  const auto used = sut.reuse(false);
  BOOST_TEST_REQUIRE(used.has_value());
  BOOST_TEST(used->entry == 7u);
  BOOST_TEST((used->from == origin::image));
}

BOOST_AUTO_TEST_CASE(only_the_run_that_left_an_entry_is_made_by_its_seed) {
  follow({leg_of({heavy}, origin::latent, 5)});
  auto from = stored({5});
  from.seeded = true;
  from.seed = 99;
  find({from});
  sut.begin_leg(0);
  BOOST_TEST(sut.is_made_by_its_seed());
  sut.take_seed_of_match();
  BOOST_TEST(sut.recipe().seed == 99u);
  from.depth = 1;
  find({from});
  BOOST_TEST(!sut.is_made_by_its_seed());
}

BOOST_AUTO_TEST_CASE(stages_see_the_leg_and_what_the_request_holds) {
  follow({leg_of({heavy}, origin::latent, 5)});
  find({stored({5})});
  const auto before = sut.view_without_route(nothing, {}, {});
  BOOST_TEST(before.route == nullptr);
  sut.begin_leg(0);
  const auto view = sut.view(nothing, {});
  BOOST_TEST(view.leg == &sut.route().legs[0]);
  BOOST_TEST(view.skip == 5u);
  BOOST_TEST(view.from == sut.match());
  BOOST_TEST(view.drawn == nullptr);
  BOOST_TEST(!view.holds[static_cast<size_t>(held::state)]);
  sut.end_leg(core::ec::none);
  sut.finish();
  BOOST_TEST(sut.view(nothing, {}).leg == nullptr);
}

BOOST_AUTO_TEST_CASE(pixels_without_a_size_have_that_of_their_recipe) {
  follow({leg_of({light}), leg_of({heavy}, origin::stage_image)});
  sut.begin_leg(0);
  const auto own = sut.recipe().px;
  sut.end_leg(core::ec::none);
  BOOST_TEST((sut.px(nothing) == own));
  sut.begin_leg(1);
  BOOST_TEST((sut.px(nothing) == own));
  sut.end_leg(core::ec::none);
  sut.finish();
  BOOST_TEST((sut.px(nothing) == own));
}

BOOST_AUTO_TEST_CASE(what_a_later_leg_starts_from_was_drawn_by_the_one_before) {
  costs.variants[heavy.value].native_px = {16, 20};
  follow({leg_of({light}), leg_of({heavy}, origin::stage_image)});
  sut.begin_leg(0);
  const auto own = sut.recipe().px;
  sut.end_leg(core::ec::none);
  sut.begin_leg(1);
  BOOST_TEST_REQUIRE((sut.recipe().px != own));
  const auto start = with_start();
  const auto view = sut.view(start, {});
  BOOST_TEST_REQUIRE(view.drawn != nullptr);
  BOOST_TEST((view.drawn->variant == light));
  BOOST_TEST((view.px == own));
  BOOST_TEST((sut.px(start) == own));
}

BOOST_AUTO_TEST_CASE(found_work_was_drawn_as_the_leg_that_starts_from_it) {
  costs.variants[heavy.value].native_px = {16, 20};
  follow({leg_of({light}), leg_of({heavy}, origin::image, 5)});
  find({stored({})});
  sut.begin_leg(0);
  sut.end_leg(core::ec::none);
  sut.begin_leg(1);
  const auto start = with_start();
  BOOST_TEST((sut.view(start, {}).drawn->variant == heavy));
  BOOST_TEST((sut.px(start) == core::extent{16, 20}));
}

BOOST_AUTO_TEST_CASE(a_mask_counts_only_for_edits) {
  follow({leg_of({heavy}, origin::template_image)});
  planning::facts found;
  found.mask.emplace();
  found.mask->ratio = 0.25;
  sut.learn(found);
  BOOST_TEST(!sut.take_mask());
  BOOST_TEST(sut.masked_as_it_runs() == 1);
  wanted.source = std::make_shared<core::source_images>();
  BOOST_TEST(sut.take_mask());
  sut.begin_leg(0);
  BOOST_TEST(sut.masked_as_it_runs() == 0.25);
}

BOOST_AUTO_TEST_CASE(a_route_is_chosen_from_the_plan_in_force) {
  follow({leg_of({light})});
  auto next = sut.plan();
  next.version = 2;
  next.routes[0].legs = {leg_of({heavy})};
  const auto plan = std::make_shared<const planning::plan>(std::move(next));
  sut.choose(core::route_id{0}, std::nullopt, plan,
             std::make_shared<const planning::route_slots>(
               test::standard_stages(), plan->routes));
  BOOST_TEST(&sut.plan() == plan.get());
  sut.begin_leg(0);
  BOOST_TEST((sut.recipe().variant == heavy));
}

BOOST_AUTO_TEST_SUITE_END()
