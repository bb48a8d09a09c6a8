// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include <atelier/planning/runnable_route.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

using namespace atelier;
using namespace planning;

namespace {

bool runs_on(const route& x, core::variant_id v) {
  return std::ranges::any_of(x.legs, [&](const leg& y) {
    return std::ranges::find(y.any_of, v) != y.any_of.end();
  });
}

/// Asks until the policy has chosen; every fact is as `all` says.
choice chosen(const test::scene& s, const core::request& wanted,
              const facts& all, uint64_t id) {
  facts known;
  for (int asked = 0; asked < 5; ++asked) {
    auto draws = test::random_of(id);
    auto c =
      choose_runnable(*s.sut, {wanted, known, s.known, s.now, s.there, draws});
    const auto* asks = std::get_if<need>(&c);
    if (asks == nullptr)
      return c;
    if (asks->tolerated)
      known.tolerated = all.tolerated;
    if (asks->hit_likely)
      known.hit_likely = true;
    if (asks->near)
      known.near = all.near;
    if (asks->mask)
      known.mask.emplace();
  }
  BOOST_FAIL("a policy never stops asking");
  return need{};
}

/// A plan of three variants with the routes of each by itself, and a cascade.
struct rig {
  rig() {
    now = vanilla_plan();
    route cascade;
    cascade.name = "cascade";
    cascade.legs.resize(2);
    cascade.legs[0].any_of = {core::variant_id{2}};
    cascade.legs[1].any_of = {core::variant_id{0}};
    now.routes.push_back(cascade);
    now.share = {{0, 0, 0, 1}};
  }

  plan vanilla_plan() const {
    const auto made = *make_policy("vanilla");
    return made->replan({}, known, there, {});
  }

  struct fixed_choice : policy {
    uint32_t at = 3;

    std::string_view name() const override {
      return "test";
    }

    plan replan(const demand&, const profile&, const cluster_view&,
                const plan& before) const override {
      return before;
    }

    choice choose(const decision_context&) const override {
      return go{core::route_id{at}, {}};
    }

    core::queue_id place(const leg&, const decision_context&) const override {
      return {};
    }

    taken take(const worker_view&, std::span<const waiting>, const plan&,
               core::time_point) const override {
      return {};
    }
  };

  choice choose() const {
    auto draws = test::random_of(1);
    return choose_runnable(rules, {wanted, {}, known, now, there, draws});
  }

  uint32_t chosen_route() const {
    const auto made = choose();
    BOOST_TEST_REQUIRE(std::holds_alternative<go>(made));
    return std::get<go>(made).route.value;
  }

  profile known = test::full_profile();
  cluster_view there;
  plan now;
  core::request wanted;
  fixed_choice rules;
};

} // namespace

BOOST_AUTO_TEST_SUITE(runnable_route_test)

BOOST_FIXTURE_TEST_CASE(a_route_that_can_run_stays, rig) {
  BOOST_TEST(chosen_route() == 3u);
  wanted.unable = {core::variant_id{1}};
  BOOST_TEST(chosen_route() == 3u);
}

BOOST_FIXTURE_TEST_CASE(each_leg_counts, rig) {
  wanted.unable = {core::variant_id{2}};
  BOOST_TEST(chosen_route() == 0u);
  wanted.unable = {core::variant_id{0}};
  BOOST_TEST(chosen_route() == 1u);
}

BOOST_FIXTURE_TEST_CASE(shares_decide_then_what_is_hosted, rig) {
  wanted.unable = {core::variant_id{2}};
  worker_view w;
  w.hosting = {core::variant_id{1}};
  there.workers = {w};
  BOOST_TEST(chosen_route() == 1u);
  now.share = {{0.25, 0, 0, 0.75}, {0, 0.125, 0, 0.875}};
  BOOST_TEST(chosen_route() == 0u);
}

BOOST_FIXTURE_TEST_CASE(no_route_that_needs_earlier_work_stands_in, rig) {
  wanted.unable = {core::variant_id{2}};
  for (const auto from : {origin::latent, origin::image, origin::stage_image,
                          origin::template_image}) {
    now.routes[0].legs[0].from = from;
    BOOST_TEST(chosen_route() == 1u);
  }
}

BOOST_FIXTURE_TEST_CASE(without_a_route_it_is_refused, rig) {
  wanted.unable = {core::variant_id{0}, core::variant_id{1},
                   core::variant_id{2}};
  now.retry_after = std::chrono::seconds{3};
  const auto made = choose();
  BOOST_TEST_REQUIRE(std::holds_alternative<refuse>(made));
  const auto& no = std::get<refuse>(made);
  BOOST_TEST((no.why.code == core::ec::unavailable));
  BOOST_TEST(no.why.text
             == "no route of the plan in force can run the request's values, "
                "as route 'cascade' cannot");
  BOOST_TEST((no.retry_after == now.retry_after));
}

BOOST_AUTO_TEST_CASE(no_policy_runs_a_request_on_what_cannot_run_it) {
  std::set<std::string> changed;
  for (const auto& p : test::every_policy())
    for (const double rate : {0.25, 4.0}) {
      test::scene s{p->name()};
      for (int period = 0; period < 3; ++period) {
        s.window(rate);
        s.replan();
        s.load();
      }
      auto all = test::near_one(0.95, {5, 10, 15, 20, 25});
      all.tolerated = test::tolerates(2).tolerated;
      for (uint64_t id = 0; id < 20; ++id)
        for (uint32_t v = 0; v < s.known.variants.size(); ++v) {
          core::request wanted;
          const auto before = chosen(s, wanted, all, id);
          wanted.unable = {core::variant_id{v}};
          const auto after = chosen(s, wanted, all, id);
          const auto* way = std::get_if<go>(&after);
          BOOST_REQUIRE_MESSAGE(way != nullptr, p->name());
          const auto& along = s.now.routes.at(way->route.value);
          BOOST_REQUIRE_MESSAGE(!runs_on(along, core::variant_id{v}),
                                p->name());
          if (after != before)
            changed.emplace(p->name());
        }
    }
  // The levels of a ladder and the light model of a cascade are among what was
  // left out. Some answer with the image that they find, which needs no model.
  for (const auto* name : {"argus", "diffserve", "atelier", "vanilla"})
    BOOST_TEST(changed.contains(name), name);
  BOOST_TEST(2 * changed.size() > test::every_policy().size());
}

BOOST_AUTO_TEST_SUITE_END()
