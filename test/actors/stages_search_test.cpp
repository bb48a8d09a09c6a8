// SPDX-License-Identifier: Apache-2.0
#include "stages_rig.hpp"
#include <atelier/actors/stages/search.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

namespace {

using namespace atelier;
using actors::search_stage;
using planning::stage_type;

static_assert(stage_type<search_stage>);

constexpr core::timespan budget = std::chrono::milliseconds{100};

struct fixture : test::stages_rig {
  search_stage stage{kept, budget, 0.2};

  planning::row_view asking() {
    planning::row_view out{wanted, known, costs};
    out.asked.near = true;
    return out;
  }

  index::leftover one_state() {
    index::leftover out;
    out.states.push_back({5, state(5, 1)});
    out.depth = 2;
    return out;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stages_search_test, fixture)

BOOST_AUTO_TEST_CASE(it_is_due_before_the_route_within_its_budget) {
  const auto& row = stage.row();
  BOOST_TEST(row.name == "search");
  BOOST_TEST((row.hook == planning::hook::before_route));
  BOOST_TEST((row.place == planning::place::background));
  BOOST_TEST((row.otherwise == planning::if_failed::go_on));
  BOOST_TEST((row.budget == budget));
  BOOST_TEST(row.budget_share == 0.2);
  BOOST_TEST(row.slots.empty());
}

BOOST_AUTO_TEST_CASE(only_who_asks_and_may_reuse_is_searched_for) {
  BOOST_TEST((stage.begin(asking()) != std::nullopt));
  auto asks_for_nothing = asking();
  asks_for_nothing.asked.near = false;
  BOOST_TEST((stage.begin(asks_for_nothing) == std::nullopt));
  auto by_images = asking();
  by_images.asked.by = planning::compared::images;
  BOOST_TEST((stage.begin(by_images) == std::nullopt));
  wanted.source = std::make_shared<core::source_images>();
  BOOST_TEST((stage.begin(asking()) == std::nullopt));
  wanted.source = nullptr;
  // A probe measures how long a search takes.
  wanted.kind = core::request_kind::probe;
  BOOST_TEST((stage.begin(asking()) != std::nullopt));
  wanted.kind = core::request_kind::generate;
  costs.reuse.reset();
  BOOST_TEST((stage.begin(asking()) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_repeated_prompt_finds_what_it_left) {
  keep(one_state());
  const auto order = test::crossed(*stage.begin(asking()));
  BOOST_TEST((stage.takes(order, costs) == costs.reuse->retrieval));
  const auto found = stage.run(order, here);
  BOOST_REQUIRE(found);
  BOOST_REQUIRE(stage.end(test::crossed(*found), known));
  BOOST_REQUIRE(known.near);
  BOOST_REQUIRE(known.near->size() == 1u);
  BOOST_TEST(known.near->front().similarity > 1 - 1e-6);
  BOOST_TEST((known.near->front().stored == std::vector<uint32_t>{5}));
  BOOST_TEST(known.near->front().depth == 2u);
}

BOOST_AUTO_TEST_CASE(a_request_may_want_more_similar_work) {
  keep(one_state());
  wanted.text.positive += " beside a wall";
  const auto nearest = [&] {
    planning::facts told;
    const auto order = test::crossed(*stage.begin(asking()));
    BOOST_REQUIRE(stage.end(*stage.run(order, here), told));
    return *told.near;
  };
  const auto found = nearest();
  BOOST_TEST_REQUIRE(found.size() == 1u);
  const auto similarity = static_cast<float>(found.front().similarity);
  BOOST_TEST_REQUIRE(similarity < 1);
  wanted.cache_similarity = similarity;
  BOOST_TEST(nearest().size() == 1u);
  wanted.cache_similarity = std::nextafter(similarity, 1.0f);
  BOOST_TEST(nearest().empty());
}

BOOST_AUTO_TEST_CASE(nothing_near_is_a_fact_too) {
  keep(one_state());
  wanted.text.positive = "xylophone quartet";
  BOOST_REQUIRE(stage.end(*stage.run(*stage.begin(asking()), here), known));
  BOOST_REQUIRE(known.near);
  BOOST_TEST(known.near->empty());
}

BOOST_AUTO_TEST_CASE(whether_a_search_hits_is_told_without_what_it_finds) {
  costs.reuse->latents = {{5, 0.9}, {10, 0.95}};
  auto view = asking();
  view.asked.near = false;
  view.asked.hit_likely = true;
  const auto tells = [&] {
    planning::facts told;
    const auto order = test::crossed(*stage.begin(view));
    BOOST_REQUIRE(stage.end(test::crossed(*stage.run(order, here)), told));
    BOOST_TEST(!told.near);
    BOOST_REQUIRE(told.hit_likely);
    return *told.hit_likely;
  };
  BOOST_TEST(!tells());
  keep(one_state());
  BOOST_TEST(tells());
  // The prompts share a word, which is below every threshold.
  wanted.text.positive = "a red cube and some blue spheres";
  BOOST_TEST(!tells());
  view.asked.near = true;
  planning::facts both;
  BOOST_REQUIRE(stage.end(*stage.run(*stage.begin(view), here), both));
  BOOST_TEST(both.near.has_value());
  BOOST_TEST(both.hit_likely.has_value());
}

BOOST_AUTO_TEST_CASE(others_runs_and_tenants_are_not_found) {
  keep(one_state());
  const auto finds = [&] {
    return !stage.run(*stage.begin(asking()), here)->near.empty();
  };
  BOOST_TEST(finds());
  wanted.seed = 77;
  BOOST_TEST(finds());
  wanted.tenant = core::tenant_id{3};
  BOOST_TEST(!finds());
  wanted.tenant = {};
  wanted.text.negative = "";
  BOOST_TEST(!finds());
  wanted.text.negative = "blurry";
  wanted.fixed.guidance = 3.0f;
  BOOST_TEST(!finds());
}

BOOST_AUTO_TEST_CASE(ten_matches_are_shown) {
  for (int i = 0; i < 12; ++i)
    keep(one_state());
  BOOST_TEST(stage.run(*stage.begin(asking()), here)->near.size() == 10u);
}

BOOST_AUTO_TEST_SUITE_END()
