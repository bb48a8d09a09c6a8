// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/nirvana/eviction.hpp>
#include <atelier/planning/route.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace atelier::runtime {

/// A cache that fills as answers end, and the distribution of its prompts. The
/// prompts are synthetic: the papers' traces are published without prompts.
struct cache_spec {
  /// Maximum number of states (latents or images); 0: no cache is simulated.
  uint32_t entries = 0;
  /// Decides what is evicted when the cache is full.
  planning::nirvana::eviction_rule replace =
    planning::nirvana::eviction_rule::lru;
  /// Subjects of prompts; the k-th is requested 1/k as often as the first.
  uint32_t topics = 5'000;
  /// Share of requests that repeat the subject of one of the `recent` previous
  /// ones.
  double again = 0.5;
  uint32_t recent = 100;
  /// Factor from cosines between prompts to similarities as in the profile's
  /// tables; 0: 1 for tables of latents, 0.32 for images.
  double scale = 0;
};

/// Checks the parameters of a cache.
core::result<void> check_cache(const cache_spec& x);

/// The subject of each request and the part of its prompt that is its own, as
/// unit vectors. A prompt is sqrt(r) topic + sqrt(1 - r) own, with r normal
/// about `mean`, cut to 0..1: the cosine of two prompts on one topic is about
/// r, of others about 0. The result is the same for the same seed, however
/// often it is asked.
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

/// Counts of the events of a cache.
struct cache_counts {
  uint64_t inserted = 0;
  uint64_t evicted = 0;
  /// Searches whose nearest prompt has lost some of its states.
  uint64_t holes = 0;
  /// By use: the age of the state that was used.
  std::vector<float> ages_seconds;
};

/// A bounded store of the results of answered requests: states by prompt,
/// searched exactly.
class simulated_cache {
public:
  simulated_cache(const cache_spec& of, const synthetic_prompts& prompts,
                  double scale);

  /// Returns the nearest prompts that have a state, the nearest first; the
  /// older of equal ones first.
  /// @param request counted from 0
  std::vector<planning::match> near(size_t request, size_t most) const;

  /// Counts a search and its result.
  void searched(const std::vector<planning::match>& found);

  /// Notes that the state after `skip` steps of a match, or its image, was
  /// used. Returns false if that prompt has been evicted since it was found.
  bool use(uint64_t entry, uint32_t skip, double now);

  /// Keeps states of a request's prompt: latents after each of these steps,
  /// ascending, or its image if the list is empty. The states of least worth
  /// are evicted first if the cache has no room.
  /// @param depth how many times reuse was chained up to it
  void insert(size_t request, const std::vector<uint32_t>& latents,
              uint32_t depth, double now);

  size_t size() const {
    return order_.size();
  }

  const cache_counts& counts() const {
    return counts_;
  }

  /// Returns every state, in no order: for comparison.
  std::vector<planning::nirvana::cached_state> states() const;

private:
  struct kept {
    uint64_t entry = 0;
    synthetic_prompts::vector position{};
    /// By ascending skip.
    std::vector<planning::nirvana::cached_state> states;
    size_t all = 0;
    bool image = false;
    uint32_t depth = 0;
    double since = 0;
  };

  planning::nirvana::eviction_place place_of(
    const planning::nirvana::cached_state& x) const;
  const kept& at(uint64_t entry) const;
  void evict_one();

  cache_spec of_;
  const synthetic_prompts& prompts_;
  double scale_;
  /// Unordered entries, and the index of each prompt's entry by its number,
  /// which rises.
  std::vector<kept> kept_;
  std::unordered_map<uint64_t, size_t> places_;
  uint64_t newest_ = 0;
  std::set<planning::nirvana::eviction_place> order_;
  uint64_t clock_ = 0;
  /// Ageing: the worth of the last evicted state.
  double floor_ = 0;
  cache_counts counts_;
};

} // namespace atelier::runtime
