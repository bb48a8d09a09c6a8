// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;

namespace {

test::scene scene_of(std::string_view name, double rate = 1) {
  test::scene s{name};
  // The last worker already hosts the small variant.
  s.there.workers.back().hosting = {core::variant_id{1}};
  s.window(rate);
  s.replan();
  return s;
}

// Returns a request's routing number that is not drawn to run without reuse.
// The seed decides which are.
uint64_t usual() {
  static const uint64_t found = [] {
    const auto s = scene_of("nirvana");
    const auto near = test::near_one(0.97, {25});
    uint64_t id = 0;
    while (s.route(near, {}, id).legs[0].skip == 0)
      ++id;
    return id;
  }();
  return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(reuse_policies_test)

BOOST_AUTO_TEST_CASE(nirvana_resumes_as_far_as_similarity_allows) {
  const auto s = scene_of("nirvana");
  const std::vector<uint32_t> all{5, 10, 15, 20, 25};
  const auto skip = [&](double similarity, std::vector<uint32_t> stored) {
    return s.route(test::near_one(similarity, std::move(stored)), {}, usual())
      .legs[0]
      .skip;
  };
  BOOST_TEST(skip(0.65, all) == 0u);
  BOOST_TEST(skip(0.66, all) == 5u);
  BOOST_TEST(skip(0.96, all) == 25u);
  BOOST_TEST(skip(0.96, {5, 10}) == 10u);
  BOOST_TEST(skip(0.76, {25}) == 0u);
  const auto& scratch = s.route(test::near_one(0.1, all), {}, usual());
  BOOST_TEST((scratch.legs[0].capture == all));
  BOOST_TEST(scratch.store.latents);
  const auto& hit = s.route(test::near_one(0.96, all), {}, usual());
  BOOST_TEST(!hit.store.latents);
  BOOST_TEST((hit.legs[0].from == origin::latent));
}

BOOST_AUTO_TEST_CASE(nirvana_says_which_thresholds_decide) {
  auto s = scene_of("nirvana");
  const auto told = [&] { return s.sut->explain(s.now).lines; };
  BOOST_TEST_REQUIRE(told().size() == 2u);
  BOOST_TEST(told()[0]
             == "thresholds of the profile: 5 steps above 0.650, 10 above "
                "0.750, 15 above 0.850, 20 above 0.900, 25 above 0.950");
  s.known.reuse->latents.clear();
  s.replan();
  BOOST_TEST(told()[0].starts_with("thresholds as published: 5 steps above"));
  s.known.reuse->latents = {{10, 0.5}};
  auto& measured = s.known.reuse->measured.emplace();
  measured.scorer = "scorer";
  measured.encoder = "words";
  measured.resumed = 100;
  s.replan();
  BOOST_TEST(told()[0]
             == "thresholds measured by scorer, 100 prompts compared by words: "
                "10 steps above 0.500");
  auto whole = scene_of("gptcache");
  BOOST_TEST((whole.sut->explain(whole.now).lines
              == std::vector<std::string>{"images answer from similarity 0.800 "
                                          "on: the policy's own threshold"}));
}

BOOST_AUTO_TEST_CASE(measured_thresholds_replace_the_published_ones) {
  auto s = scene_of("nirvana");
  const auto near = test::near_one(0.6, {10, 25});
  BOOST_TEST(s.route(near, {}, usual()).name == "scratch");
  s.known.reuse->latents = {{10, 0.5}};
  s.known.reuse->measured.emplace();
  s.replan();
  BOOST_TEST(s.route(near, {}, usual()).legs[0].skip == 10u);
  // Measurements show that no skip keeps the quality, so the policy searches
  // for nothing and keeps no state.
  s.known.reuse->latents.clear();
  s.replan();
  BOOST_TEST(s.route({}, {}, usual()).name == "scratch");
  const auto same = test::near_one(1, {5, 10, 25});
  BOOST_TEST(s.route(same, {}, usual()).name == "scratch");
  BOOST_TEST(s.route(same, {}, usual()).legs[0].capture.empty());
  BOOST_TEST(
    s.sut->explain(s.now).lines[0].ends_with("no skip keeps the quality"));
}

BOOST_AUTO_TEST_CASE(skips_refer_to_the_steps_that_the_profile_says) {
  auto s = scene_of("nirvana");
  s.known.reuse->latents = {{5, 0.5}};
  s.known.reuse->steps = 10;
  s.replan();
  // Half of the run of 50 steps.
  const auto& hit = s.route(test::near_one(0.6, {5, 25}), {}, usual());
  BOOST_TEST(hit.legs[0].skip == 25u);
  facts nothing;
  nothing.near.emplace();
  BOOST_TEST((s.route(nothing, {}, usual()).legs[0].capture
              == std::vector<uint32_t>{25}));
}

BOOST_AUTO_TEST_CASE(a_measurement_without_thresholds_leaves_atelier_no_reuse) {
  const auto sut = *make_policy("atelier");
  auto known = test::full_profile();
  known.ladders.clear();
  known.reuse->latents.clear();
  known.reuse->images.clear();
  BOOST_TEST((sut->compares(known) == compared::images));
  known.reuse->measured.emplace();
  BOOST_TEST((sut->compares(known) == compared::nothing));
}

BOOST_AUTO_TEST_CASE(nirvana_takes_the_furthest_of_its_neighbours) {
  auto f = test::near_one(0.97, {5});
  match other;
  other.similarity = 0.92;
  other.stored = {20};
  f.near->push_back(other);
  const auto s = scene_of("nirvana");
  const auto c = std::get<go>(s.choose(f, {}, usual()));
  BOOST_TEST(s.now.routes[c.route.value].legs[0].skip == 20u);
  BOOST_TEST(c.match.value() == 1u);
  auto paper = scene_of("nirvana-paper");
  f.hit_likely = true;
  const auto p = std::get<go>(paper.choose(f, {}, usual()));
  BOOST_TEST(paper.now.routes[p.route.value].legs[0].skip == 5u);
}

BOOST_AUTO_TEST_CASE(deterministic_and_pinned_runs_bypass_the_cache) {
  const auto s = scene_of("nirvana");
  const auto f = test::near_one(0.97, {25});
  core::request wanted;
  wanted.deterministic = true;
  BOOST_TEST(s.route(f, wanted, usual()).legs[0].skip == 0u);
  core::request guided;
  guided.fixed.guidance = 3.0f;
  BOOST_TEST(s.route(f, guided, usual()).legs[0].skip == 0u);
}

BOOST_AUTO_TEST_CASE(a_fiftieth_starts_from_scratch_whatever_is_near) {
  const auto s = scene_of("nirvana");
  const auto f = test::near_one(0.97, {25});
  size_t fresh = 0;
  for (uint64_t id = 0; id < 5000; ++id)
    fresh += s.route(f, {}, id).legs[0].skip == 0 ? 1u : 0u;
  BOOST_TEST((fresh > 50 && fresh < 160));
}

BOOST_AUTO_TEST_CASE(the_predictor_is_asked_always_or_while_it_gains) {
  const auto asks = [](bool hit_likely, predicted_from predicts) {
    return need{false, hit_likely, !hit_likely, compared::prompts,
                false, predicts,   0.65,        {needed_work::part::state, 5}};
  };
  const auto paper = scene_of("nirvana-paper");
  BOOST_TEST((std::get<need>(paper.choose({}, {}, usual()))
              == asks(true, predicted_from::entries)));
  facts no;
  no.hit_likely = false;
  BOOST_TEST(paper.route(no, {}, usual()).name == "scratch");
  facts yes;
  yes.hit_likely = true;
  BOOST_TEST((std::get<need>(paper.choose(yes, {}, usual()))
              == asks(false, predicted_from::entries)));

  auto ours = scene_of("nirvana");
  BOOST_TEST((std::get<need>(ours.choose({}, {}, usual()))
              == asks(false, predicted_from::outcomes)));
  // Searches take long and few hit, so the predictor gains.
  ours.known.reuse->retrieval = std::chrono::seconds{1};
  auto& w = ours.window(1);
  w.searched = 100;
  w.hits = 5;
  w.skips = {{10, 5}};
  ours.replan();
  BOOST_TEST((std::get<need>(ours.choose({}, {}, usual()))
              == asks(true, predicted_from::outcomes)));
  const auto none = scene_of("nirvana-no-predictor");
  BOOST_TEST((std::get<need>(none.choose({}, {}, usual()))
              == asks(false, predicted_from::nothing)));
}

// What a search finds must be of use to the policy that asked.
BOOST_AUTO_TEST_CASE(policies_say_what_earlier_work_must_hold) {
  using part = needed_work::part;
  const auto asked = [](const char* policy) {
    return std::get<need>(scene_of(policy).choose({}, {}, usual()));
  };
  for (const auto* const policy : {"gptcache", "pinecone", "crs"}) {
    const auto n = asked(policy);
    // An image of depth 0 was drawn by a whole run.
    BOOST_TEST((n.holds == needed_work{part::image, 0, 0}), policy);
    BOOST_TEST(n.near);
    BOOST_TEST_REQUIRE(n.hit_from.has_value());
    BOOST_TEST(*n.hit_from > 0.2);
  }
  const auto refines = asked("modm");
  BOOST_TEST((refines.holds == needed_work{part::image}));
  BOOST_TEST(*refines.hit_from == 0.25);
  BOOST_TEST((asked("nirvana").holds == needed_work{part::state, 5}));
  BOOST_TEST(*asked("nirvana").hit_from == 0.65);
}

// With the published rates it would gain.
BOOST_AUTO_TEST_CASE(measured_rates_of_the_predictor_replace_the_published) {
  auto s = scene_of("nirvana");
  s.known.reuse->retrieval = std::chrono::milliseconds{200};
  auto& w = s.window(1);
  w.searched = 100;
  w.hits = 5;
  w.skips = {{10, 5}};
  const auto asks = [&] {
    return std::get<need>(s.choose({}, {}, usual())).hit_likely;
  };
  const auto told = [&] {
    s.replan();
    return s.sut->explain(s.now).lines.at(1);
  };
  const auto says = [&](const std::string& begin, const std::string& end) {
    const auto text = told();
    BOOST_TEST(text.starts_with("predictor of matches: " + begin), text);
    BOOST_TEST(text.ends_with(end), text);
  };
  // One search too few. The predictor expects a hit of nearly all misses.
  w.predictions = {5, 90, 0, 4, enough_predictions - 1};
  says("asked, as it gains ",
       ", precision 0.960 and recall 0.950 as published; 99 of 100 searches "
       "that check it are counted");
  BOOST_TEST(asks());
  // It misses half of the hits, and lets nearly all misses search.
  w.predictions = {5, 90, 5, 0, 100};
  says("not asked, as it would lose ",
       ", precision 0.053 and recall 0.500 measured by 100 searches");
  BOOST_TEST(!asks());
  w.predictions = {5, 0, 0, 95, 100};
  says("asked, as it gains 190.0 ms a request, ",
       "precision 1.000 and recall 1.000 measured by 100 searches");
  BOOST_TEST(asks());
  // The share of hits is that of all requests, not of the searches that the
  // predictor let through, of which nearly all hit.
  w.searched = 6;
  says("asked, as it gains 190.0 ms a request, ",
       "precision 1.000 and recall 1.000 measured by 100 searches");
  // Several windows count together. Without predicted hits there is no
  // precision.
  s.asked.windows.back().predictions = {0, 0, 5, 95, 60};
  says("", "as published; 60 of 100 searches that check it are counted");
  s.window(1).predictions = {5, 0, 0, 0, 40};
  says("", "precision 1.000 and recall 0.500 measured by 100 searches");
  auto paper = scene_of("nirvana-paper");
  BOOST_TEST(paper.sut->explain(paper.now).lines.at(1).starts_with(
    "predictor of matches: asked always, precision 0.960 and recall 0.950 as "
    "published"));
}

BOOST_AUTO_TEST_CASE(image_caches_answer_with_what_they_find) {
  for (const auto& [name, from] :
       {std::pair{"gptcache", 0.8}, {"pinecone", 0.85}, {"crs", 0.25}}) {
    const auto s = scene_of(name);
    const auto& hit = s.route(test::near_one(from, {}));
    BOOST_TEST(hit.legs.empty(), name);
    BOOST_TEST((hit.from == origin::image), name);
    BOOST_TEST((hit.store == store_set{}), name);
    const auto& miss = s.route(test::near_one(from - 0.01, {}));
    BOOST_TEST(miss.name == "scratch", name);
    BOOST_TEST(miss.store.image, name);
    // The match is the nearest of the found states, as long as there is one.
    auto several = test::near_one(0.95, {});
    several.near->push_back(test::near_one(0.9, {}).near->front());
    BOOST_TEST(std::get<go>(s.choose(several)).match.value() == 0u, name);
    // An image that was refined, or that another variant drew, is no answer.
    several.near->front().depth = 1;
    BOOST_TEST(std::get<go>(s.choose(several)).match.value() == 1u, name);
    several.near->back().depth = 2;
    BOOST_TEST(s.route(several).name == "scratch", name);
    several.near->clear();
    BOOST_TEST(s.route(several).name == "scratch", name);
    core::request wanted;
    wanted.deterministic = true;
    BOOST_TEST(s.route(test::near_one(0.95, {}), wanted).name == "scratch",
               name);
  }
  BOOST_TEST(scene_of("small-model").hosting(1) == 8u);
}

// MoDM's threshold for CLIP is wrong for another encoder, so that a measured
// one replaces it.
BOOST_AUTO_TEST_CASE(images_answer_from_the_measured_similarity_on) {
  const auto route_at = [](const test::scene& s, double similarity) {
    return s.route(test::near_one(similarity, {})).from;
  };
  const auto told = [](const test::scene& s) {
    return s.sut->explain(s.now).lines.at(0);
  };
  auto s = scene_of("crs");
  BOOST_TEST(told(s)
             == "images answer from similarity 0.250 on: the policy's own "
                "threshold");
  auto& measured = s.known.reuse->measured.emplace();
  measured.scorer = "scorer";
  measured.encoder = "clip";
  s.replan();
  // Images were not measured.
  BOOST_TEST((route_at(s, 0.25) == origin::image));
  measured.answers = {60, 0.5};
  s.known.reuse->answers_from = 0.375;
  s.replan();
  BOOST_TEST((route_at(s, 0.37) == origin::noise));
  BOOST_TEST((route_at(s, 0.375) == origin::image));
  BOOST_TEST(told(s)
             == "images answer from similarity 0.375 on: measured by scorer, "
                "60 images compared by clip");
  s.known.reuse->answers_from.reset();
  s.replan();
  BOOST_TEST((route_at(s, 1) == origin::noise));
  BOOST_TEST(told(s).starts_with("images answer at no similarity: measured"));
  // Policies that compare prompts keep theirs.
  auto other = scene_of("gptcache");
  other.known.reuse = s.known.reuse;
  other.replan();
  BOOST_TEST((route_at(other, 0.8) == origin::image));
  BOOST_TEST(other.sut->assumes(other.known).has_value());
  // Without a measurement of images, a profile's own is that of prompts.
  other.known.reuse->measured.reset();
  other.known.reuse->answers_from = 1;
  other.replan();
  BOOST_TEST((route_at(other, 0.999) == origin::noise));
  BOOST_TEST((route_at(other, 1) == origin::image));
  BOOST_TEST(told(other)
             == "images answer from similarity 1.000 on: the profile's "
                "threshold");
  BOOST_TEST(!other.sut->assumes(other.known));
  s.known.reuse = other.known.reuse;
  s.replan();
  BOOST_TEST((route_at(s, 0.25) == origin::image));
}

BOOST_AUTO_TEST_CASE(modm_splits_workers_by_hits) {
  auto s = scene_of("modm", 1);
  BOOST_TEST(s.hosting(0) == 8u);
  for (int i = 0; i < 6; ++i) {
    auto& w = s.window(3);
    w.searched = w.arrived;
    w.hits = w.arrived * 7 / 10;
    w.skips = {{25, w.hits}};
    s.replan();
    s.load();
  }
  BOOST_TEST((s.hosting(0) > 0 && s.hosting(0) < 8));
  BOOST_TEST(s.hosting(0) + s.hosting(1) + s.hosting(2) == 8u);
}

BOOST_AUTO_TEST_CASE(modm_refines_hits_and_makes_misses_whole) {
  const auto s = scene_of("modm");
  const auto& miss = s.route(test::near_one(0.2499, {}));
  BOOST_TEST(miss.name == "miss");
  BOOST_TEST((miss.legs[0].any_of == std::vector{core::variant_id{0}}));
  BOOST_TEST(miss.store.image);
  const auto& hit = s.route(test::near_one(0.27, {}));
  BOOST_TEST(hit.legs[0].skip == 10u);
  BOOST_TEST(hit.legs[0].skip_of == 50u);
  BOOST_TEST((hit.legs[0].from == origin::image));
  const std::vector<core::variant_id> small_then_large{core::variant_id{1},
                                                       core::variant_id{0}};
  BOOST_TEST((hit.legs[0].any_of == small_then_large));
  BOOST_TEST(hit.store.image);
  BOOST_TEST(
    !scene_of("modm-cache-large").route(test::near_one(0.27, {})).store.image);
}

BOOST_AUTO_TEST_CASE(large_workers_take_misses_before_hits) {
  const auto s = scene_of("modm");
  worker_view large = s.there.workers[0];
  large.seats_free = 1;
  auto hit = test::waits(1);
  hit.queue = queue_of(core::variant_id{1});
  auto miss = test::waits(2);
  miss.queue = queue_of(core::variant_id{0});
  const std::vector<waiting> queue{hit, miss};
  BOOST_TEST((s.sut->take(large, queue, s.now, test::at_s(0)).join
              == std::vector{core::request_id{2}}));
  const std::vector<waiting> hits{hit};
  BOOST_TEST((s.sut->take(large, hits, s.now, test::at_s(0)).join
              == std::vector{core::request_id{1}}));
  // They serve the queue of hits, but in the paper's throughput mode.
  auto two = scene_of("modm", 3);
  auto& w = two.window(3);
  w.searched = w.arrived;
  w.hits = w.arrived / 2;
  w.skips = {{25, w.hits}};
  two.replan();
  bool helps = false;
  for (const auto& a : two.now.workers)
    helps = helps || !a.also_serves.empty();
  BOOST_TEST(helps);
  auto strict = scene_of("modm-paper", 3);
  strict.asked.windows = two.asked.windows;
  strict.replan();
  for (const auto& a : strict.now.workers)
    BOOST_TEST(a.also_serves.empty());
}

BOOST_AUTO_TEST_SUITE_END()
