// SPDX-License-Identifier: Apache-2.0
#include "planning/every_policy.hpp"
#include "simulation/ran.hpp"
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>
#include <string_view>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using planning::nirvana::eviction_rule;
using runtime::outcome;
using runtime::scenario;
using test::ran;

/// Returns a profile of a variant of 50 steps that starts from latents, and a
/// small one that refines images.
std::shared_ptr<planning::profile> reusing() {
  auto p = std::make_shared<planning::profile>();
  for (const char* model : {"full", "small"}) {
    planning::variant_profile v;
    v.model = model;
    v.steps = 50;
    v.name = v.model + "@50";
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, v.model == "full" ? 20ms : 5ms}};
    p->variants.push_back(v);
  }
  planning::reuse_profile r;
  r.full = core::variant_id{0};
  r.small = {core::variant_id{1}};
  r.latents = {{5, 0.65}, {10, 0.75}, {15, 0.85}, {20, 0.9}, {25, 0.95}};
  r.images = {{5, 0.25}, {10, 0.27}, {15, 0.28}, {25, 0.29}, {30, 0.3}};
  r.retrieval = 10ms;
  r.predictor = {0.95, 0.05};
  p->reuse = r;
  return p;
}

scenario base(std::string_view policy, eviction_rule rule, uint32_t entries,
              bool images = false) {
  scenario x;
  auto p = reusing();
  if (images)
    p->reuse->latents.clear();
  x.profile = p;
  x.policy = test::any_policy(policy);
  for (uint32_t i = 0; i < 1'500; ++i)
    x.trace.push_back({0.5 * i, i % 50});
  x.workers = 8;
  x.max_batch = 1;
  x.interval_seconds = 75;
  x.similarity = {0.85, 0.06, 1};
  x.cache.entries = entries;
  x.cache.replace = rule;
  x.cache.topics = 300;
  x.cache.again = 0.3;
  return x;
}

double hit_ratio(const outcome& of) {
  return static_cast<double>(of.cache_hits)
       / static_cast<double>(of.cache_lookups);
}

} // namespace

BOOST_AUTO_TEST_SUITE(cache_contents)

BOOST_AUTO_TEST_CASE(a_cache_warms_up_and_is_bounded) {
  for (const bool images : {false, true}) {
    auto x =
      base(images ? "modm-paper" : "nirvana-no-predictor",
           images ? eviction_rule::fifo : eviction_rule::lcbfu, 500, images);
    x.check_every = 197;
    const auto out = ran(x);
    BOOST_REQUIRE(out.series.size() >= 9u);
    const auto& first = out.series.front();
    const auto& later = out.series[8];
    BOOST_TEST(first.hits * later.searches < later.hits * first.searches);
    for (const auto& i : out.series)
      BOOST_TEST(i.cached <= 500u);
    BOOST_TEST(later.cached > 400u);
    BOOST_TEST(out.cache_evicted > 0u);
    BOOST_TEST(out.cache_inserted >= out.cache_evicted + later.cached - 10);
    BOOST_TEST(out.hit_age_p50_seconds <= out.hit_age_p90_seconds);
    BOOST_TEST(out.hit_age_p90_seconds > 0);
    // Images are evicted whole, and latents one by one.
    BOOST_TEST((out.cache_holes > 0) == !images);
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_fills_it_alike_another_does_not) {
  auto x = base("nirvana-no-predictor", eviction_rule::marginal, 300);
  x.trace.resize(400);
  const auto a = ran(x);
  const auto b = ran(x);
  BOOST_TEST(a.digest == b.digest);
  BOOST_TEST(a.cache_evicted == b.cache_evicted);
  BOOST_TEST(a.cache_holes == b.cache_holes);
  x.seed = 2;
  BOOST_TEST(ran(x).digest != a.digest);
}

BOOST_AUTO_TEST_CASE(a_larger_cache_finds_more) {
  const auto small = ran(base("nirvana-no-predictor", eviction_rule::lru, 100));
  const auto large =
    ran(base("nirvana-no-predictor", eviction_rule::lru, 4'000));
  BOOST_TEST(hit_ratio(small) < hit_ratio(large));
  BOOST_TEST(small.saved_steps < large.saved_steps);
  BOOST_TEST(large.cache_evicted == 0u);
}

BOOST_AUTO_TEST_CASE(without_topics_in_common_nothing_is_near) {
  auto x = base("nirvana-no-predictor", eviction_rule::lru, 4'000);
  x.trace.resize(300);
  x.cache.topics = 1'000'000;
  x.cache.again = 0;
  const auto out = ran(x);
  BOOST_TEST(hit_ratio(out) < 0.4);
  x.similarity = {0, 0, 1};
  BOOST_TEST(ran(x).cache_hits == 0u);
}

BOOST_AUTO_TEST_CASE(every_policy_runs_over_a_cache_that_fills) {
  for (const auto& policy : test::every_policy()) {
    auto x = base(policy->name(), eviction_rule::lcbfu, 50);
    x.trace.resize(80);
    x.check_every = 97;
    BOOST_TEST_CONTEXT(policy->name()) {
      ran(x);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_found_is_answered_without_a_step) {
  for (const char* policy : {"gptcache", "pinecone", "crs"}) {
    auto x = base(policy, eviction_rule::lru, 0);
    x.trace.resize(200);
    x.similarity = {0.9, 0, 1};
    x.check_every = 53;
    const auto out = ran(x);
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST(out.completed == 200u);
      BOOST_TEST(out.cache_hits == 200u);
      BOOST_TEST(out.saved_steps == 1);
      BOOST_TEST(out.device_seconds == 0);
      BOOST_TEST(std::abs(out.quality_mean - planning::nirvana::found_quality)
                 < 1e-9);
      // An answer takes the search and two transfers through rings.
      BOOST_TEST(out.latency_p50_ms >= 10);
      BOOST_TEST(out.latency_p99_ms < 11);
    }
    x.similarity = {0.2, 0, 1};
    BOOST_TEST(ran(x).saved_steps == 0);
  }
}

BOOST_AUTO_TEST_CASE(images_that_went_since_the_search_are_drawn) {
  auto x = base("gptcache", eviction_rule::fifo, 12);
  x.cache.topics = 10;
  // Many requests are between their search and their answer.
  auto p = reusing();
  p->reuse->retrieval = 900ms;
  x.profile = p;
  for (auto& arrival : x.trace)
    arrival.seconds /= 10;
  x.check_every = 97;
  const auto out = ran(x);
  BOOST_TEST(out.dropped == 0u);
  BOOST_TEST(out.cache_hits > 0u);
  BOOST_TEST(out.cache_evicted > 0u);
  // Requests that are not answered with a found image are drawn and kept.
  BOOST_TEST(out.cache_inserted == out.requests - out.cache_hits);
  // Without evictions more requests are answered with found images.
  x.cache.entries = 1'000;
  BOOST_TEST(hit_ratio(out) < hit_ratio(ran(x)));
}

BOOST_AUTO_TEST_CASE(while_the_cache_is_lost_everything_is_drawn) {
  using runtime::fault_kind;
  auto x = base("gptcache", eviction_rule::lru, 0);
  x.trace.resize(200);
  x.similarity = {0.9, 0, 1};
  x.faults = {{fault_kind::lost_cache, 20, 30, 0, 1, 1},
              {fault_kind::crash, 30, 10, 0, 3, 1}};
  x.check_every = 53;
  const auto out = ran(x);
  BOOST_TEST(out.dropped == 0u);
  // Two requests arrive each second.
  BOOST_TEST((out.cache_hits >= 138 && out.cache_hits <= 142));
  BOOST_TEST(out.device_seconds > 0);
}

BOOST_AUTO_TEST_CASE(a_cache_that_nobody_could_use_is_refused) {
  auto x = base("vanilla", eviction_rule::lru, 10);
  auto p = reusing();
  p->reuse.reset();
  x.profile = p;
  const auto out = runtime::simulate(x);
  BOOST_REQUIRE(!out);
  BOOST_TEST(out.why().text.find("nothing that starts from a cache")
             != std::string::npos);
  x = base("nirvana", eviction_rule::lru, 200'000);
  BOOST_TEST(runtime::simulate(x).why().text.find(
               "the cache: entries 200000 outside 0..100000")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
