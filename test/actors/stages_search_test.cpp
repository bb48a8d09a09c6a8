// SPDX-License-Identifier: Apache-2.0
#include "stages_rig.hpp"
#include "support/seed.hpp"
#include <atelier/actors/stages/search.hpp>
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using actors::search_stage;
using planning::stage_type;

static_assert(stage_type<search_stage>);

constexpr core::timespan budget = std::chrono::milliseconds{100};

// Trains at once.
class at_once final : public core::offload {
public:
  bool run(core::timespan, std::function<void()> work) override {
    work();
    return true;
  }
};

struct fixture : test::stages_rig {
  std::shared_ptr<index::match_prediction> predicts =
    std::make_shared<index::match_prediction>(kept, std::make_unique<at_once>(),
                                              0);
  search_stage stage{kept, predicts, budget, 0.2};

  // Asks whether a search would hit.
  std::optional<bool> hit_likely() {
    auto view = asking();
    view.asked.near = false;
    view.asked.hit_likely = true;
    view.asked.predicts = planning::predicted_from::entries;
    view.asked.hit_from = 0.9;
    planning::facts told;
    const auto order = test::crossed(*stage.begin(view));
    BOOST_TEST((stage.takes(order, costs) == core::timespan{0}));
    BOOST_REQUIRE(stage.end(test::crossed(*stage.run(order, here)), told));
    BOOST_TEST(!told.near);
    BOOST_TEST(!told.prediction);
    return told.hit_likely;
  }

  // Searches, after that answer, if any.
  std::optional<planning::checked_prediction> searched(
    std::optional<bool> answer) {
    auto view = asking();
    known.hit_likely = answer;
    view.asked.predicts = planning::predicted_from::entries;
    view.asked.hit_from = 0.9;
    planning::facts told;
    const auto order = test::crossed(*stage.begin(view));
    BOOST_REQUIRE(stage.end(test::crossed(*stage.run(order, here)), told));
    BOOST_TEST(told.near.has_value());
    known.hit_likely.reset();
    return told.prediction;
  }

  uint64_t searches() const {
    return kept->counts().hits + kept->counts().misses;
  }

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

BOOST_AUTO_TEST_CASE(a_share_of_the_requests_is_drawn_in_full) {
  keep(one_state());
  const search_stage some{kept, predicts, budget, 0.2, 0.25};
  constexpr uint64_t requests = 1'600;
  size_t fresh = 0;
  for (uint64_t id = 1; id <= requests; ++id) {
    wanted.id = core::request_id{id};
    const bool searches = some.begin(asking()).has_value();
    // The answer depends on nothing but the request.
    BOOST_REQUIRE(some.begin(asking()).has_value() == searches);
    BOOST_REQUIRE(stage.begin(asking()).has_value());
    fresh += searches ? 0u : 1u;
  }
  // A quarter, within five standard deviations.
  BOOST_TEST(fresh > 313u);
  BOOST_TEST(fresh < 487u);
  const search_stage all{kept, predicts, budget, 0.2, 1};
  BOOST_TEST((all.begin(asking()) == std::nullopt));
  // A probe measures how long a search takes.
  wanted.kind = core::request_kind::probe;
  BOOST_TEST(all.begin(asking()).has_value());
}

// Ten entries of another policy are as near as can be.
BOOST_AUTO_TEST_CASE(work_without_what_the_policy_needs_is_not_found) {
  index::leftover image;
  image.image = std::vector<std::byte>(image_bytes);
  image.px = {16, 16};
  keep(image, "a red fox in the snow");
  for (int i = 0; i < 10; ++i)
    keep(one_state());
  auto view = asking();
  view.asked.holds.holds = planning::needed_work::part::image;
  view.asked.hit_from = 0.5;
  const auto found = stage.run(test::crossed(*stage.begin(view)), here);
  BOOST_REQUIRE(found);
  BOOST_TEST_REQUIRE(found->near.size() == 1u);
  BOOST_TEST(found->near.front().similarity > 0.2);
  BOOST_TEST(found->near.front().stored.empty());
  view.asked.holds = {planning::needed_work::part::state, 6};
  BOOST_TEST(stage.run(*stage.begin(view), here)->near.empty());
  view.asked.holds.least_steps = 5;
  BOOST_TEST(stage.run(*stage.begin(view), here)->near.size() == 10u);
}

BOOST_AUTO_TEST_CASE(a_search_hits_from_where_its_policy_reuses) {
  costs.reuse->latents = {{5, 0.9}};
  keep(one_state());
  wanted.text.positive = "a red cube and some blue spheres";
  auto view = asking();
  const auto hits = [&] {
    const auto before = kept->counts().hits;
    BOOST_REQUIRE(stage.run(*stage.begin(view), here));
    return kept->counts().hits - before;
  };
  // By default the profile's lowest threshold.
  BOOST_TEST(hits() == 0u);
  view.asked.hit_from = 0.01;
  BOOST_TEST(hits() == 1u);
  wanted.text.positive = "a red fox";
  view.asked.hit_from.reset();
  BOOST_TEST(hits() == 1u);
  view.asked.hit_from = 2;
  BOOST_TEST(hits() == 0u);
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

BOOST_AUTO_TEST_CASE(a_predicted_miss_is_not_searched_for) {
  keep(one_state());
  // Trained by the first question.
  hit_likely();
  BOOST_TEST(hit_likely().value());
  wanted.text.positive = "xylophone quartet";
  constexpr uint64_t requests = 1600;
  const auto before = searches();
  std::vector<uint64_t> sampled;
  for (uint64_t id = 1; id <= requests; ++id) {
    wanted.id = core::request_id{id};
    const bool said = hit_likely().value();
    // The answer depends on nothing but the request.
    BOOST_REQUIRE(hit_likely() == said);
    if (said)
      sampled.push_back(id);
  }
  BOOST_TEST(searches() == before);
  // One in 16, within five standard deviations.
  BOOST_TEST(sampled.size() > 50u);
  BOOST_TEST(sampled.size() < 150u);
  BOOST_TEST(predicts->counts().said_misses == 2 * requests);
  // The search of a sampled one stands for all.
  wanted.id = core::request_id{sampled.front()};
  const auto of = searched(true);
  BOOST_REQUIRE(of);
  BOOST_TEST((*of == planning::checked_prediction{false, false, 16}));
  BOOST_TEST(searches() == before + 1);
  BOOST_TEST(predicts->counts().recent.right_misses == 16u);
  BOOST_TEST(predicts->counts().checked == 1u);
}

BOOST_AUTO_TEST_CASE(a_search_checks_its_prediction) {
  keep(one_state());
  hit_likely();
  const auto hit = searched(true);
  BOOST_REQUIRE(hit);
  BOOST_TEST((*hit == planning::checked_prediction{true, true, 1}));
  // A policy that did not ask searches for each miss: it stands for itself.
  wanted.text.positive = "xylophone quartet";
  const auto miss = searched(std::nullopt);
  BOOST_REQUIRE(miss);
  BOOST_TEST((*miss == planning::checked_prediction{false, false, 1}));
  // Similar work that the request itself refuses is a hit of the cache.
  wanted.text.positive = "a red fox";
  wanted.cache_similarity = 2;
  BOOST_TEST(searched(std::nullopt).value().hit);
  // A prompt without words shows nothing.
  wanted.text.positive = "";
  BOOST_TEST(!searched(std::nullopt));
  const auto all = predicts->counts().recent;
  BOOST_TEST(all.right_hits == 2u);
  BOOST_TEST(all.right_misses == 1u);
  BOOST_TEST(all.checked == 3u);
}

// Otherwise a predictor that works would hear of one in sixteen of the misses
// that it predicts, and of every hit, and would drift to hits.
BOOST_AUTO_TEST_CASE(a_sampled_search_teaches_what_it_stands_for) {
  using planning::predicted_from;
  keep(one_state());
  const auto made = [&] {
    return std::make_unique<index::match_prediction>(
      kept, std::make_unique<at_once>(), 0);
  };
  predicts = made();
  const auto weighed = made();
  const auto unweighed = made();
  const auto vector = [&](const std::string& text) {
    return kept->vector_of(key(), text);
  };
  for (auto* const x : {predicts.get(), weighed.get(), unweighed.get()})
    for (int i = 0; i < 40; ++i) {
      const auto number = std::to_string(i);
      x->learn(predicted_from::outcomes, key(),
               vector("red ball thing " + number), true);
      x->learn(predicted_from::outcomes, key(),
               vector("grey stone object " + number), false);
    }
  const search_stage sut{kept, predicts, budget, 0.2};
  auto view = asking();
  known.hit_likely = true;
  view.asked.predicts = predicted_from::outcomes;
  view.asked.hit_from = 0.9;
  size_t sampled = 0;
  for (uint64_t id = 1; sampled < 20; ++id) {
    wanted.id = core::request_id{id};
    wanted.text.positive = "grey stone object of " + std::to_string(id);
    const auto order = sut.begin(view);
    if (order->stands_for == 0)
      continue;
    ++sampled;
    const auto found = sut.run(*order, here);
    BOOST_REQUIRE(found);
    BOOST_REQUIRE(!found->prediction.said_hit);
    const auto text = vector(wanted.text.positive);
    weighed->learn(predicted_from::outcomes, key(), text, false, 16);
    unweighed->learn(predicted_from::outcomes, key(), text, false, 1);
  }
  // Words of both kinds decide by how much each kind weighs.
  const std::vector<std::string> words{"red",  "ball",  "thing",
                                       "grey", "stone", "object"};
  core::philox random{test::seed(), core::purpose::test};
  size_t differ = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (int n = 0; n < 6; ++n)
      text += words[random.below(words.size())] + ' ';
    const auto said = [&](index::match_prediction& x) {
      return x.ask(predicted_from::outcomes, key(), vector(text));
    };
    const bool expected = said(*weighed);
    BOOST_TEST(said(*predicts) == expected);
    differ += said(*unweighed) == expected ? 0u : 1u;
  }
  BOOST_TEST(differ > 0u);
}

BOOST_AUTO_TEST_CASE(a_late_answer_of_the_predictor_leads_to_a_search) {
  keep(one_state());
  hit_likely();
  wanted.text.positive = "xylophone quartet";
  // The scheduler said yes in its place. The search is made, but it stands for
  // no predicted miss, unless the request is sampled.
  const auto before = searches();
  size_t counted = 0;
  for (uint64_t id = 1; id <= 160; ++id) {
    wanted.id = core::request_id{id};
    counted += searched(true) ? 1u : 0u;
  }
  BOOST_TEST(searches() == before + 160);
  BOOST_TEST(counted < 40u);
}

BOOST_AUTO_TEST_CASE(policies_without_a_predictor_teach_none) {
  keep(one_state());
  auto view = asking();
  BOOST_REQUIRE(stage.run(*stage.begin(view), here));
  BOOST_TEST((predicts->counts() == index::prediction_counts{}));
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
