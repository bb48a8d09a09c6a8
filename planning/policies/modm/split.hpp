// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::modm {

/// The counts of one window.
struct window {
  /// Requests per second.
  double rate = 0;
  /// The fraction of requests that found a sufficiently similar image.
  double hits = 0;
  /// The mean fraction of a full run that hits still ran: sum of P(k) (1 -
  /// k/T).
  double left = 1;
};

/// Returns the window's `left` from the fractions of each skip among hits.
double mean_left(const std::vector<double>& shares,
                 std::span<const uint32_t> skips, uint32_t steps);

/// Loads in full runs per second.
/// Source: MoDM, section 5.3, Eq. 7, 8.
struct loads {
  double miss = 0;
  double hit = 0;
};

/// Returns (1 - H) R and H R sum P(k) (1 - k/T).
loads loads_of(const window& seen);

/// Full runs per second of one worker of each kind.
struct speeds {
  double large = 0;
  double small = 0;
};

/// The fraction of the capacity that the default plan uses; it is 1 under the
/// paper's name, whose quality mode otherwise fills every worker.
/// Source: MoDM's artifact, which takes 0.9.
inline constexpr double used_capacity = 0.9;

/// Returns the split of quality mode as published: it starts with as many large
/// workers as misses need, adds one while the others can serve the hits, and
/// then removes one. The result is workers + 1 if large workers can serve
/// everything, and one less than misses need if even that is too many.
/// Source: MoDM, Algorithm 1, lines 9-19; Eq. 6-10.
int64_t quality_split_published(uint32_t workers, const loads& of,
                                const speeds& at);

/// Returns the exact split of quality mode: the most large workers with which
/// both loads are served; nothing if no split serves them.
std::optional<uint32_t> quality_split(uint32_t workers, const loads& of,
                                      const speeds& at);

/// Returns the split of throughput mode as published: N W_miss / (W' + W_miss),
/// W' = W_hit P_l / P_s, not rounded; nothing without load.
/// Source: MoDM, Eq. 11, 12.
std::optional<double> throughput_split_published(uint32_t workers,
                                                 const loads& of,
                                                 const speeds& at);

/// Returns the exact split of throughput mode: the whole number of large
/// workers with which the largest multiple of the loads is served, if small
/// workers run only hits and large ones only misses; at least one; nothing
/// without load.
std::optional<uint32_t> throughput_split(uint32_t workers, const loads& of,
                                         const speeds& at);

/// Returns the largest multiple of both loads that a split serves, with hits
/// only on small workers and misses only on large ones.
double served_multiple(uint32_t large, uint32_t small, const loads& of,
                       const speeds& at);

enum class serve_mode : uint8_t {
  /// Large workers take hits if no miss waits.
  quality,
  /// Large workers take only misses.
  throughput,
};

} // namespace atelier::planning::modm
