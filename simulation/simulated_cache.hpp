// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/nirvana/eviction.hpp>
#include <atelier/planning/route.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace atelier::runtime {

/// A cache that fills as answers end, and what its prompts are like. The
/// prompts are synthetic: none are published with the papers' traces.
struct cache_spec {
  /// States that it holds at most: latents, or pictures; 0: none is simulated.
  uint32_t entries = 0;
  /// What goes first when it is full.
  planning::nirvana::eviction_rule replace =
    planning::nirvana::eviction_rule::lru;
  /// Subjects of prompts; the k-th is asked for 1/k as often as the first.
  uint32_t topics = 5'000;
  /// Share of requests that take up the subject of one of the `recent` before.
  double again = 0.5;
  uint32_t recent = 100;
  /// What cosines between prompts are multiplied by to be similarities as the
  /// profile's tables have them; 0: 1 for tables of latents, 0.32 for pictures.
  double scale = 0;
};

/// Returns what is wrong with a cache, if anything.
core::result<void> check_cache(const cache_spec& x);

/// The subject of each request, and what is its prompt's own, as unit vectors.
/// A prompt is sqrt(r) topic + sqrt(1 - r) own with r normal about `mean`, cut
/// to 0..1: the cosine of two on one topic is about r, of others about 0. The
/// same for the same seed, however often it is asked.
class synthetic_prompts {
public:
  static constexpr size_t dimensions = 64;
  using vector = std::array<float, dimensions>;

  synthetic_prompts(const cache_spec& of, double mean, double spread,
                    size_t requests, uint64_t seed);

  uint32_t topic_of(size_t request) const {
    return topics_[request];
  }

  /// @pre request < requests
  vector operator()(size_t request) const;

private:
  double mean_;
  double spread_;
  uint64_t seed_;
  std::vector<uint32_t> topics_;
};

/// What became of a cache.
struct cache_counts {
  uint64_t inserted = 0;
  uint64_t evicted = 0;
  /// Searches whose nearest prompt has lost some of its states.
  uint64_t holes = 0;
  /// By use: how long ago the state that was used had come.
  std::vector<float> ages_seconds;
};

/// A bounded store of what answered requests left: states by prompt, searched
/// exactly.
class simulated_cache {
public:
  simulated_cache(const cache_spec& of, const synthetic_prompts& prompts,
                  double scale);

  /// Returns the nearest prompts that have a state, the nearest first; of equal
  /// ones the older.
  /// @param request counted from 0 on
  std::vector<planning::match> near(size_t request, size_t most) const;

  /// Counts a search with what it found just now.
  void searched(const std::vector<planning::match>& found);

  /// Notes that the state after `skip` steps of a match was used, or its
  /// picture. False where that prompt has gone since it was found.
  bool use(uint64_t entry, uint32_t skip, double now);

  /// Keeps states of a request's prompt: latents after those steps each,
  /// rising, or its picture where there are none. What is worth the least goes
  /// before where there is no room for them.
  /// @param depth how many times reuse was chained up to it
  void insert(size_t request, const std::vector<uint32_t>& latents,
              uint32_t depth, double now);

  size_t size() const {
    return order_.size();
  }

  const cache_counts& counts() const {
    return counts_;
  }

  /// Every state, in no order: for comparison.
  std::vector<planning::nirvana::cached_state> states() const;

private:
  struct kept {
    uint64_t entry = 0;
    synthetic_prompts::vector at{};
    /// By rising skip.
    std::vector<planning::nirvana::cached_state> states;
    size_t all = 0;
    bool picture = false;
    uint32_t depth = 0;
    double since = 0;
  };

  // What victims() sorts by: worth, last use, skip, age.
  using key = std::tuple<double, uint64_t, uint32_t, uint64_t>;

  key key_of(const planning::nirvana::cached_state& x) const;
  const kept& at(uint64_t entry) const;
  void evict_one();

  cache_spec of_;
  const synthetic_prompts& prompts_;
  double scale_;
  /// In no order; where each prompt's is, by its number, which rises.
  std::vector<kept> kept_;
  std::unordered_map<uint64_t, size_t> places_;
  uint64_t newest_ = 0;
  std::set<key> order_;
  uint64_t clock_ = 0;
  /// Ageing: the worth of what went last.
  double floor_ = 0;
  cache_counts counts_;
};

} // namespace atelier::runtime
