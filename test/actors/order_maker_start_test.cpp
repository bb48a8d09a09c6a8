// SPDX-License-Identifier: Apache-2.0

// What a drawing starts from, by which variant, and what it captures.

#include "actors/layers_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace atelier;
using actors::denoise;
using ipc::slot_kind;
using planning::held;
using planning::origin;
using test::card_2;
using test::card_4;
using test::layers_rig;

// Vanilla's routes are the first two.
constexpr core::route_id either{2};
constexpr core::route_id by_level{3};
constexpr core::route_id from_latent{4};
constexpr core::route_id from_found{5};
constexpr core::route_id latent_then_noise{6};

struct rig : layers_rig {
  explicit rig(bool devices_take_found_work = false)
    : layers_rig(with(devices_take_found_work)) {}

  static options with(bool devices_take_found_work) {
    options o;
    o.devices_take_found_work = devices_take_found_work;
    o.profile = test::card_profile();
    o.profile->reuse.emplace().full = card_4;
    o.adjust = [](planning::plan& x) {
      auto along = x.routes[0];
      along.name = "either";
      along.legs[0].any_of = {card_4, card_2};
      x.routes.push_back(along);
      along = x.routes[0];
      along.legs[0].level_of_worker = true;
      x.routes.push_back(along);
      along = x.routes[0];
      along.legs[0].from = origin::latent;
      along.legs[0].skip = 3;
      x.routes.push_back(along);
      along.legs[0].from = origin::image;
      along.legs[0].skip = 2;
      x.routes.push_back(along);
      along = x.routes[from_latent.value];
      along.legs.push_back(x.routes[0].legs.front());
      x.routes.push_back(along);
    };
    return o;
  }

  denoise made(actors::row& r, const actors::worker& w) {
    auto x = sut.make(ticket_of_next(r), r, w);
    BOOST_REQUIRE(x.has_value());
    of.requests.count_aside(r);
    return std::get<denoise>(std::move(*x));
  }

  // A row with a match that is prepared, with a state after so many steps.
  actors::row& to_draw(core::route_id along, uint32_t steps = 0) {
    auto& r = accept();
    find_match(r);
    route(r, along, 0);
    enter(r, "prepare");
    BOOST_REQUIRE(
      lifecycle.keep(r, wrote(r, {held::state}, uint64_t{steps} + 1)));
    enter(r, "denoise");
    return r;
  }

  // A device whose plan lets it skip so many steps.
  actors::worker& device_at_level(uint32_t process, uint32_t level) {
    auto& w = device(process);
    planning::assignment x;
    x.level = level;
    of.hosting.apply(w, x, {}, now);
    return w;
  }

  // The earlier work that an answer would report.
  static std::optional<actors::reused_work> reused(actors::row& r) {
    actors::answer a;
    r.account.close_with_image(a, {}, {});
    return a.reused;
  }

  actors::order_maker& sut = maker;
};

struct simulated_rig : rig {
  simulated_rig() : rig(true) {}
};

// A route keeps states after these steps for later requests, which a stage
// remembers.
struct keeps {
  std::vector<uint32_t> steps = {1, 2, 4, 5};
  uint32_t slots = 4;
  bool remembers = true;
  bool latents = true;
};

struct capturing_rig : layers_rig {
  explicit capturing_rig(const keeps& how = {}) : layers_rig(with(how)) {}

  static options with(const keeps& how) {
    actors::standard_stages own;
    if (how.remembers)
      own.remember = test::told("keep", planning::hook::after_answer,
                                planning::if_failed::go_on, {}, {},
                                planning::place::background);
    options o;
    o.slots = {8, 8, how.slots};
    o.stages = test::pipeline_with(own);
    o.adjust = [how](planning::plan& x) {
      x.routes[0].legs[0].capture = how.steps;
      x.routes[0].store.latents = how.latents;
    };
    return o;
  }

  // Returns the numbers of steps of the captures that a row is ordered, whose
  // state has so many steps.
  std::vector<uint32_t> captured(core::cache_use use = core::cache_use::on,
                                 uint32_t steps = 0) {
    auto& r = accept([&](core::request& x) { x.cache = use; });
    route(r);
    enter(r, "prepare");
    BOOST_REQUIRE(
      lifecycle.keep(r, wrote(r, {held::state}, uint64_t{steps} + 1)));
    enter(r, "denoise");
    const auto made = maker.make(ticket_of_next(r), r, device(++devices));
    BOOST_REQUIRE(made.has_value());
    const auto& d = std::get<denoise>(*made);
    std::vector<ipc::slot_ref> slots;
    std::vector<uint32_t> found;
    for (const auto& x : d.captures) {
      slots.push_back(x.into);
      found.push_back(x.steps);
    }
    BOOST_TEST((slots == of.slots.of(d.ticket).granted.captures));
    left_out = r.held.left_out();
    return found;
  }

  uint32_t devices = 1;
  size_t left_out = 0;
};

using steps = std::vector<uint32_t>;

} // namespace

BOOST_FIXTURE_TEST_SUITE(order_maker_start_test, rig)

// -- variants -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_runs_by_a_variant_that_its_worker_hosts) {
  auto& r = to_draw(either);
  BOOST_TEST((r.course.recipe().variant == card_4));
  const auto d = made(r, lighter(2));
  BOOST_TEST((r.course.recipe().variant == card_2));
  BOOST_TEST((d.recipe == r.course.recipe()));
  BOOST_TEST(d.recipe.steps == 2u);
}

BOOST_AUTO_TEST_CASE(row_with_steps_keeps_its_variant) {
  auto& r = to_draw(either);
  of.slots.begin_with(r.held, 1);
  const auto d = made(r, lighter(2));
  BOOST_TEST((d.recipe.variant == card_4));
  BOOST_TEST(d.steps_done == 1u);
  BOOST_TEST(r.course.saved() == 0u);
}

// -- earlier work -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(row_starts_with_the_steps_of_its_state) {
  // The match has a state after two steps, but none was fetched.
  auto& lost = to_draw(from_latent);
  BOOST_TEST(lost.course.saved() == 2u);
  auto& w = device(2);
  BOOST_TEST(made(lost, w).steps_done == 0u);
  BOOST_TEST(lost.course.saved() == 0u);
  BOOST_TEST(!reused(lost).has_value());
  auto& fetched = to_draw(from_latent, 2);
  BOOST_TEST(made(fetched, w).steps_done == 2u);
  BOOST_TEST(fetched.course.saved() == 2u);
  BOOST_TEST_REQUIRE(reused(fetched).has_value());
}

BOOST_FIXTURE_TEST_CASE(simulated_device_starts_with_found_work,
                        simulated_rig) {
  auto& r = to_draw(from_latent);
  BOOST_TEST(made(r, device(2)).steps_done == 2u);
  BOOST_TEST(r.held.steps() == 2u);
  BOOST_TEST(r.course.saved() == 2u);
  BOOST_TEST_REQUIRE(reused(r).has_value());
}

BOOST_FIXTURE_TEST_CASE(simulated_device_starts_with_noise_without_a_match,
                        simulated_rig) {
  auto& r = accept();
  route(r, from_found);
  prepare(r);
  BOOST_TEST_REQUIRE(r.course.saved() == 2u);
  BOOST_TEST(made(r, device(2)).steps_done == 0u);
  BOOST_TEST(r.course.saved() == 0u);
}

BOOST_FIXTURE_TEST_CASE(level_of_a_worker_says_what_its_rows_skip,
                        simulated_rig) {
  BOOST_TEST(made(to_draw(by_level), device_at_level(2, 0)).steps_done == 0u);
  BOOST_TEST(made(to_draw(by_level), device_at_level(3, 1)).steps_done == 1u);
  BOOST_TEST(made(to_draw(by_level), device_at_level(4, 3)).steps_done == 2u);
}

BOOST_FIXTURE_TEST_CASE(hit_by_a_level_counts_once_when_a_worker_takes_it,
                        simulated_rig) {
  made(to_draw(by_level), device_at_level(2, 0));
  BOOST_TEST(counts().hits == 0u);
  auto& r = to_draw(by_level);
  made(r, device_at_level(3, 2));
  BOOST_TEST(counts().hits == 1u);
  BOOST_TEST(counts().skips.at(0).first == 2u);
  made(r, device_at_level(4, 2));
  BOOST_TEST(counts().hits == 1u);
}

BOOST_AUTO_TEST_CASE(hit_by_a_route_counted_when_that_was_chosen) {
  made(to_draw(from_latent, 2), device(2));
  BOOST_TEST(counts().hits == 0u);
}

BOOST_AUTO_TEST_CASE(later_leg_changes_nothing_of_the_first_ones_start) {
  auto& r = to_draw(latent_then_noise, 2);
  auto& w = device(2);
  made(r, w);
  r.course.end_leg(core::ec::none);
  r.course.begin_leg(1);
  of.slots.begin_leg(r.held);
  prepare(r);
  made(r, w);
  BOOST_TEST_REQUIRE(reused(r).has_value());
}

// -- captures -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(states_after_the_steps_of_a_row_are_captured) {
  capturing_rig x;
  BOOST_TEST(x.captured() == (steps{1, 2, 4}));
  BOOST_TEST(x.left_out == 0u);
  capturing_rig resumed;
  BOOST_TEST(resumed.captured(core::cache_use::on, 2) == (steps{4}));
}

BOOST_AUTO_TEST_CASE(states_without_a_slot_are_left_out) {
  capturing_rig x{keeps{{1, 2, 4}, 1}};
  BOOST_TEST(x.captured() == (steps{4}));
  BOOST_TEST(x.left_out == 2u);
}

BOOST_AUTO_TEST_CASE(request_that_leaves_no_work_has_no_captures) {
  capturing_rig x;
  BOOST_TEST(x.captured(core::cache_use::read).empty());
  BOOST_TEST(x.captured(core::cache_use::off).empty());
  BOOST_TEST(x.captured(core::cache_use::write) == (steps{1, 2, 4}));
}

BOOST_AUTO_TEST_CASE(route_that_keeps_no_states_has_no_captures) {
  keeps how;
  how.latents = false;
  BOOST_TEST(capturing_rig{how}.captured().empty());
  BOOST_TEST(capturing_rig{keeps{{}}}.captured().empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_captured_if_no_stage_keeps_it) {
  keeps how;
  how.remembers = false;
  capturing_rig x{how};
  BOOST_TEST(x.captured().empty());
  BOOST_TEST(x.left_out == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
