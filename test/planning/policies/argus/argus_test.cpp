// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/scene.hpp"
#include <atelier/planning/policies/argus/argus_memory.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier;
using namespace atelier::planning;

namespace {

// A full image takes 4.2 s, and 2.15 s from K=25. Eight workers serve 1.9 to
// 3.7 requests a second.
test::scene scene_at(std::string_view name, double rate) {
  test::scene s{name};
  s.window(rate);
  s.replan();
  return s;
}

facts all_near(uint32_t level) {
  auto f = test::near_one(0.96, {5, 10, 25});
  f.tolerated = std::vector<uint32_t>{level, level};
  return f;
}

argus::switch_phase phase_of(const plan& p) {
  return p.memory.as<argus_memory>()->change.phase;
}

} // namespace

BOOST_AUTO_TEST_SUITE(argus_policy_test)

BOOST_AUTO_TEST_CASE(low_load_runs_in_full_whatever_is_tolerated) {
  const auto s = scene_at("argus", 0.5);
  for (uint32_t level = 0; level < 3; ++level)
    for (uint64_t id = 0; id < 50; ++id)
      BOOST_TEST(s.route(all_near(level), {}, id).name == "base@50");
  BOOST_TEST(!s.now.saturated);
}

BOOST_AUTO_TEST_CASE(high_load_skips_steps_of_those_who_tolerate_it) {
  auto s = scene_at("argus", 2.8);
  BOOST_TEST(s.now.share.size() == 3u);
  // The class that tolerates most runs at K=25, and the class that tolerates
  // nothing runs in full, as far as the load permits.
  size_t skipped[3] = {0, 0, 0};
  for (uint32_t level = 0; level < 3; ++level)
    for (uint64_t id = 0; id < 200; ++id)
      skipped[level] += s.route(all_near(level), {}, id).legs[0].skip;
  BOOST_TEST(skipped[2] > skipped[1]);
  BOOST_TEST(skipped[1] >= skipped[0]);
  // A fully random shift would treat them equally.
  auto pac = scene_at("pac", 2.8);
  size_t by_load[3] = {0, 0, 0};
  for (uint32_t level = 0; level < 3; ++level)
    for (uint64_t id = 0; id < 200; ++id)
      by_load[level] += pac.route(all_near(level), {}, id).legs[0].skip;
  BOOST_TEST(by_load[0] == by_load[2]);
}

BOOST_AUTO_TEST_CASE(facts_are_asked_only_when_they_matter) {
  const auto s = scene_at("argus", 3.4);
  BOOST_TEST((std::get<need>(s.choose({}))
              == need{true, false, false, compared::nothing, false}));
  bool searched = false;
  bool fresh = false;
  for (uint64_t id = 0; id < 300; ++id) {
    const auto c = s.choose(test::tolerates(2), {}, id);
    searched = searched || std::holds_alternative<need>(c);
    fresh = fresh || std::holds_alternative<go>(c);
  }
  BOOST_TEST(searched);
  // A few run in full, so that the cache gets early states.
  BOOST_TEST(fresh);
}

BOOST_AUTO_TEST_CASE(misses_and_failed_predictions_run_in_full) {
  const auto s = scene_at("argus", 3.4);
  facts f = test::tolerates(2);
  f.near.emplace();
  for (uint64_t id = 0; id < 50; ++id)
    BOOST_TEST(s.route(f, {}, id).legs[0].skip == 0u);
  core::request deterministic;
  deterministic.deterministic = true;
  for (uint64_t id = 0; id < 50; ++id)
    BOOST_TEST(s.route(all_near(2), deterministic, id).legs[0].skip == 0u);
}

BOOST_AUTO_TEST_CASE(no_more_is_skipped_than_the_similarity_allows) {
  auto s = scene_at("argus", 3.4);
  const auto most_skipped = [&](double similarity) {
    uint32_t most = 0;
    auto f = all_near(2);
    f.near->front().similarity = similarity;
    for (uint64_t id = 0; id < 100; ++id)
      most = std::max(most, s.route(f, {}, id).legs[0].skip);
    return most;
  };
  BOOST_TEST(most_skipped(0.96) == 25u);
  BOOST_TEST(most_skipped(0.8) == 10u);
  BOOST_TEST(most_skipped(0.3) == 0u);
  BOOST_TEST((s.sut->compares(s.known) == compared::prompts));
  // A nearest state that may not be used hides no other one.
  auto two = all_near(2);
  two.near->insert(two.near->begin(), match{1, 0.97, {}, 0});
  const auto c = s.choose(two);
  BOOST_TEST((std::get<go>(c).match.value_or(1) == 1u));
  s.known.reuse->latents.clear();
  BOOST_TEST(most_skipped(0.3) == 25u);
  BOOST_TEST((s.sut->compares(s.known) == compared::nothing));
  s.known.reuse->measured.emplace();
  BOOST_TEST(most_skipped(0.96) == 0u);
}

BOOST_AUTO_TEST_CASE(overload_is_told_after_two_periods_and_taken_back) {
  auto s = scene_at("argus", 6);
  BOOST_TEST(!s.now.saturated);
  s.window(6);
  s.replan();
  BOOST_TEST(s.now.saturated);
  BOOST_TEST((s.now.retry_after > core::timespan{0}));
  for (int i = 0; i < 8; ++i) {
    s.window(0.5);
    s.replan();
  }
  BOOST_TEST(!s.now.saturated);
}

BOOST_AUTO_TEST_CASE(slow_retrieval_changes_to_models_and_back) {
  auto s = scene_at("argus", 2);
  for (int i = 0; i < 20; ++i)
    s.window(2).retrievals.assign(3, {5.0, false});
  s.replan();
  BOOST_TEST((phase_of(s.now) == argus::switch_phase::leaving));
  // The full model stays loaded while others load, and no request starts from
  // the cache.
  BOOST_TEST(s.hosting(0) == 8u);
  BOOST_TEST((s.hosting(1) + s.hosting(2)) > 0u);
  for (uint64_t id = 0; id < 20; ++id)
    BOOST_TEST(s.route(all_near(2), {}, id).name == "base@50");
  // Half of the workers have loaded.
  for (size_t i = 0; i < 8; i += 2)
    s.there.workers[i].hosting = s.now.workers[i].hosting;
  s.window(2);
  s.replan();
  BOOST_TEST((phase_of(s.now) == argus::switch_phase::leaving));
  s.load();
  s.window(2);
  s.replan();
  BOOST_TEST((phase_of(s.now) == argus::switch_phase::models));
  for (const auto& a : s.now.workers)
    BOOST_TEST(a.hosting.size() == 1u);
  s.load();
  bool smaller = false;
  for (uint64_t id = 0; id < 50; ++id)
    smaller = smaller || s.route(all_near(2), {}, id).name != "base@50";
  BOOST_TEST(smaller);
  // Ten quick probes succeed, and a minute has passed.
  s.window(2).retrievals.assign(10, {0.001, false});
  s.replan();
  BOOST_TEST((phase_of(s.now) == argus::switch_phase::returning));
  BOOST_TEST(s.hosting(0) == 8u);
  s.load();
  s.window(2);
  s.replan();
  BOOST_TEST((phase_of(s.now) == argus::switch_phase::latents));
}

BOOST_AUTO_TEST_CASE(half_of_the_workers_lost_changes_the_shares_at_once) {
  auto s = scene_at("argus", 1.4);
  const auto skip = [&] {
    size_t sum = 0;
    for (uint64_t id = 0; id < 200; ++id)
      sum += s.route(all_near(2), {}, id).legs[0].skip;
    return sum;
  };
  const size_t before = skip();
  s.there.workers.resize(4);
  s.replan();
  BOOST_TEST(s.now.workers.size() == 4u);
  BOOST_TEST(skip() > before);
}

BOOST_AUTO_TEST_CASE(the_papers_form_has_queues_and_levels_of_workers) {
  auto s = scene_at("argus-paper", 2.8);
  size_t fast = 0;
  for (const auto& a : s.now.workers)
    fast += a.level == 25 ? 1u : 0u;
  BOOST_TEST((fast > 0 && fast < 8));
  s.load();
  s.there.workers[7].seats_taken = 0;
  const auto& r = s.route(all_near(2));
  BOOST_TEST(r.legs[0].level_of_worker);
  const auto queue = s.place(r.legs[0], all_near(2));
  bool of_level = false;
  for (const auto& w : s.there.workers)
    of_level =
      of_level || (queue == queue_of(w.worker) && w.level == r.legs[0].skip);
  BOOST_TEST(of_level);
}

BOOST_AUTO_TEST_CASE(ablations_lack_one_part_each) {
  // Without a shift the predicted level runs at every load.
  const auto unshifted = scene_at("argus-no-shift", 0.5);
  BOOST_TEST(unshifted.route(all_near(2)).legs[0].skip == 25u);
  BOOST_TEST(unshifted.route(all_near(0)).legs[0].skip == 0u);
  const auto unpredicted = scene_at("argus-no-classifier", 2.8);
  const auto c = unpredicted.choose({});
  BOOST_TEST(
    (!std::holds_alternative<need>(c) || !std::get<need>(c).tolerated));
  auto stays = scene_at("argus-no-switch", 2);
  for (int i = 0; i < 20; ++i)
    stays.window(2).retrievals.assign(3, {5.0, false});
  stays.replan();
  BOOST_TEST((phase_of(stays.now) == argus::switch_phase::latents));
}

BOOST_AUTO_TEST_CASE(a_image_at_a_time) {
  for (const char* name : {"argus", "argus-paper", "proteus"})
    for (const auto& a : scene_at(name, 2).now.workers)
      BOOST_TEST((a.batch == 1u && a.join == joining::single));
}

BOOST_AUTO_TEST_CASE(cascades_and_reuse_stand_in_for_a_ladder_of_models) {
  test::scene s{"clipper-light"};
  s.known.ladders.clear();
  s.window(1);
  s.replan();
  BOOST_TEST(s.hosting(2) == 8u);
  test::scene reuse{"clipper-light"};
  reuse.known.ladders.clear();
  reuse.known.cascades.clear();
  for (auto& v : reuse.known.variants)
    v.quality = 1;
  reuse.window(1);
  reuse.replan();
  BOOST_TEST(reuse.hosting(2) == 8u);
  reuse = scene_at("clipper-heavy", 1);
  BOOST_TEST(reuse.hosting(0) == 8u);
}

BOOST_AUTO_TEST_CASE(baselines_ignore_the_prompt) {
  for (const char* name :
       {"proteus", "sommelier", "clipper-heavy", "clipper-light", "pac"}) {
    const auto s = scene_at(name, 2);
    const auto c = s.choose({});
    need state;
    state.near = true;
    state.holds.holds = needed_work::part::state;
    if (const auto* asks = std::get_if<need>(&c))
      state.hit_from = asks->hit_from;
    BOOST_TEST((std::holds_alternative<go>(c) || std::get<need>(c) == state),
               name);
  }
  BOOST_TEST(scene_at("clipper-heavy", 9).hosting(0) == 8u);
  BOOST_TEST(scene_at("clipper-light", 0.1).hosting(2) == 8u);
  BOOST_TEST(scene_at("sommelier", 9).hosting(2) == 8u);
}

BOOST_AUTO_TEST_SUITE_END()
