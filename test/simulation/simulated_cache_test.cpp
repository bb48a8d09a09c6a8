// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/nirvana/victims.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/simulation/simulated_cache.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

using namespace atelier;
using namespace atelier::runtime;
using planning::nirvana::eviction_rule;

namespace {

double cosine(const synthetic_prompts::vector& a,
              const synthetic_prompts::vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

const std::vector<uint32_t> five{5, 10, 15, 20, 25};

} // namespace

BOOST_AUTO_TEST_SUITE(simulated_cache_test)

BOOST_AUTO_TEST_CASE(prompts_on_one_topic_are_near_others_far) {
  cache_spec spec;
  spec.topics = 40;
  const synthetic_prompts prompts{spec, 0.8, 0, 400, 1};
  double same = 0;
  double other = 0;
  size_t n_same = 0;
  size_t n_other = 0;
  for (size_t i = 1; i < 400; ++i) {
    BOOST_TEST(std::abs(cosine(prompts(i), prompts(i)) - 1) < 1e-5);
    const bool one = prompts.topic_of(i) == prompts.topic_of(i - 1);
    (one ? same : other) += cosine(prompts(i), prompts(i - 1));
    ++(one ? n_same : n_other);
  }
  BOOST_REQUIRE(n_same > 5u);
  BOOST_TEST(std::abs(same / static_cast<double>(n_same) - 0.8) < 0.05);
  BOOST_TEST(std::abs(other / static_cast<double>(n_other)) < 0.05);
  // Only the same seed gives the same prompts.
  const synthetic_prompts again{spec, 0.8, 0, 400, 1};
  const synthetic_prompts others{spec, 0.8, 0, 400, 2};
  BOOST_TEST((prompts(7) == again(7)));
  BOOST_TEST((prompts(7) != others(7)));
}

BOOST_AUTO_TEST_CASE(what_is_found_is_the_nearest) {
  cache_spec spec;
  spec.entries = 1'000;
  spec.topics = 20;
  const synthetic_prompts prompts{spec, 0.8, 0.1, 300, 3};
  simulated_cache sut{spec, prompts, 0.5};
  BOOST_TEST(sut.near(0, 4).empty());
  for (size_t i = 0; i < 200; ++i)
    sut.insert(i, five, 0, 0);
  for (size_t i = 200; i < 300; ++i) {
    std::vector<double> all;
    for (size_t k = 0; k < 200; ++k)
      all.push_back(cosine(prompts(i), prompts(k)));
    std::sort(all.rbegin(), all.rend());
    const auto found = sut.near(i, 4);
    BOOST_REQUIRE(found.size() == 4u);
    for (size_t k = 0; k < 4; ++k) {
      BOOST_TEST(std::abs(found[k].similarity - 0.5 * std::max(0.0, all[k]))
                 < 1e-5);
      BOOST_TEST((found[k].stored == five));
    }
  }
}

// In every sequence of insertions and uses, the cache stays within its bound,
// and the evicted states are those of planning::nirvana::victims.
BOOST_AUTO_TEST_CASE(what_goes_is_worth_the_least) {
  const auto sorted = [](auto states) {
    std::sort(states.begin(), states.end(), [](auto& a, auto& b) {
      return std::tie(a.entry, a.skip) < std::tie(b.entry, b.skip);
    });
    return states;
  };
  for (const auto rule :
       {eviction_rule::fifo, eviction_rule::lru, eviction_rule::lfu,
        eviction_rule::lcbfu, eviction_rule::marginal}) {
    cache_spec spec;
    spec.entries = 60;
    spec.replace = rule;
    spec.topics = 10;
    const size_t rounds = std::max<size_t>(test::scaled(20'000), 500);
    const synthetic_prompts prompts{spec, 0.8, 0.1, rounds, 5};
    simulated_cache sut{spec, prompts, 1};
    auto random = test::random_of(static_cast<uint64_t>(rule));
    for (size_t i = 0; i < rounds; ++i) {
      const auto found = sut.near(i, 1);
      if (!found.empty() && random.below(3) > 0) {
        const auto& has = found[0].stored;
        sut.use(found[0].entry,
                has.empty() ? 30 : has[random.below(has.size())], 0);
      }
      const auto before = sorted(sut.states());
      const bool image = random.below(4) == 0;
      const std::vector<uint32_t> latents =
        image ? std::vector<uint32_t>{} : five;
      sut.insert(i, latents, 0, 0);
      const auto after = sorted(sut.states());
      BOOST_REQUIRE(after.size() <= spec.entries);
      BOOST_REQUIRE(after.size() == sut.size());
      const size_t count = image ? 1 : five.size();
      std::vector<std::pair<uint64_t, uint32_t>> stayed;
      for (const auto& s : before)
        if (std::any_of(after.begin(), after.end(), [&](auto& x) {
              return x.entry == s.entry && x.skip == s.skip;
            }))
          stayed.emplace_back(s.entry, s.skip);
      const size_t gone = before.size() - stayed.size();
      BOOST_REQUIRE(after.size() == stayed.size() + count);
      if (gone == 0)
        continue;
      // At least the first evicted state follows the rule's order. The next one
      // may have changed its worth by then.
      const auto wanted = test::victims(before, rule, 1, 1);
      const auto& first = before[wanted[0]];
      BOOST_REQUIRE(std::find(stayed.begin(), stayed.end(),
                              std::pair{first.entry, first.skip})
                    == stayed.end());
      if (rule != eviction_rule::marginal) {
        const auto all = test::victims(before, rule, gone, gone);
        for (const auto v : all)
          BOOST_REQUIRE(std::find(stayed.begin(), stayed.end(),
                                  std::pair{before[v].entry, before[v].skip})
                        == stayed.end());
      }
    }
    BOOST_TEST(sut.counts().evicted > 0u);
    BOOST_TEST(sut.counts().inserted
               == sut.counts().evicted + sut.states().size());
  }
}

BOOST_AUTO_TEST_CASE(a_window_of_images_is_the_last_ones) {
  cache_spec spec;
  spec.entries = 10;
  spec.replace = eviction_rule::fifo;
  const synthetic_prompts prompts{spec, 0.8, 0.1, 50, 5};
  simulated_cache sut{spec, prompts, 1};
  for (size_t i = 0; i < 50; ++i) {
    sut.insert(i, {}, 2, static_cast<double>(i));
    const auto found = sut.near(i, 1);
    BOOST_TEST(std::abs(found[0].similarity - 1) < 1e-5);
    BOOST_TEST(found[0].entry == i + 1);
    BOOST_TEST(found[0].depth == 2u);
    BOOST_TEST(found[0].stored.empty());
    sut.use(found[0].entry, 30, static_cast<double>(i) + 0.5);
  }
  const auto states = sut.states();
  BOOST_REQUIRE(states.size() == 10u);
  for (const auto& s : states)
    BOOST_TEST(s.entry > 40u);
  BOOST_TEST(sut.counts().ages_seconds.size() == 50u);
  BOOST_TEST(sut.counts().ages_seconds[3] == 0.5f);
  BOOST_TEST(sut.counts().holes == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_not_kept) {
  cache_spec spec;
  spec.entries = 4;
  const synthetic_prompts prompts{spec, 0.8, 0.1, 3, 5};
  simulated_cache sut{spec, prompts, 1};
  sut.insert(0, {}, 0, 0);
  sut.insert(1, five, 0, 0);
  BOOST_TEST(sut.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
