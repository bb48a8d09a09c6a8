// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::modm {

/// What one window counted.
struct window {
  /// Requests a second.
  double rate = 0;
  /// Share of them that found a picture near enough.
  double hits = 0;
  /// Mean share of a full run that hits still ran: sum of P(k) (1 - k/T).
  double left = 1;
};

/// Returns the window's `left` from the shares of each skip among hits.
double mean_left(const std::vector<double>& shares,
                 std::span<const uint32_t> skips, uint32_t steps);

/// Loads in full runs a second.
/// Source: MoDM, section 5.3, Eq. 7, 8.
struct loads {
  double miss = 0;
  double hit = 0;
};

/// Returns (1 - H) R and H R sum P(k) (1 - k/T).
loads loads_of(const window& seen);

/// Full runs a second of one worker of each kind.
struct speeds {
  double large = 0;
  double small = 0;
};

/// Share of the capacity that the default plan uses; 1 under the paper's name,
/// whose quality mode otherwise fills every worker.
/// Source: MoDM's artifact, which takes 0.9.
inline constexpr double used_capacity = 0.9;

/// Quality mode as published: from as many large workers as misses need, one
/// more while the rest can serve the hits; then one fewer. Ends at workers + 1
/// where large ones alone serve all, and one short of what misses need where
/// that is too many already.
/// Source: MoDM, Algorithm 1, lines 9-19; Eq. 6-10.
int64_t quality_split_published(uint32_t workers, const loads& of,
                                const speeds& at);

/// Quality mode, exactly: the most large workers with which both loads are
/// served; nothing where no split serves them.
std::optional<uint32_t> quality_split(uint32_t workers, const loads& of,
                                      const speeds& at);

/// Throughput mode as published: N W_miss / (W' + W_miss), W' = W_hit P_l /
/// P_s, not rounded; nothing where there is no load. Source: MoDM, Eq. 11, 12.
std::optional<double> throughput_split_published(uint32_t workers,
                                                 const loads& of,
                                                 const speeds& at);

/// Throughput mode, exactly: the whole number of large workers with which the
/// largest multiple of the loads is served, where small ones run hits alone and
/// large ones misses alone; nothing where there is no load. At least one large
/// worker.
std::optional<uint32_t> throughput_split(uint32_t workers, const loads& of,
                                         const speeds& at);

/// Returns the largest multiple of both loads that a split serves, hits on
/// small workers and misses on large ones alone.
double served_multiple(uint32_t large, uint32_t small, const loads& of,
                       const speeds& at);

enum class serve_mode : uint8_t {
  /// Large workers take hits where no miss waits.
  quality,
  /// Large workers take misses alone.
  throughput,
};

} // namespace atelier::planning::modm
