// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::argus {

/// The input of one solve.
struct load_to_place {
  /// Requests per second, W_t.
  double rate = 0;
  uint32_t workers = 0;
  /// The number of workers that host each level now; empty: no worker hosts
  /// anything.
  std::vector<uint32_t> hosting;
  /// The quality per second that a second of loading on one worker costs; 0:
  /// loads are free.
  double load_price = 0;
};

/// The number of workers that run each level, and the distribution of the load.
struct allocation {
  /// By level; empty if any worker runs any level.
  std::vector<uint32_t> workers;
  /// The requests per second of each level, F(v).
  std::vector<double> load;
  /// The same as fractions of 1.
  std::vector<double> share;
  /// The sum of Q(v) F(v).
  double quality = 0;
  /// The load exceeds the capacity of all workers on their fastest level;
  /// `load` is then that capacity.
  bool saturated = false;
};

/// Solves Eq. 1 with a count for each level instead of a binary for each worker
/// and level: workers of one level are interchangeable, so that the optimum is
/// the same. Among equal plans, it chooses the one that changes the fewest
/// workers, then the one with the slower levels. Without load, all workers run
/// the first level.
/// Errors: ec::invalid_argument: no level, a level without positive time, a
/// rate that is negative or not finite; ec::unavailable: no worker, or a limit
/// was reached without a plan.
/// Source: Argus, section 4.2, Eq. 1.
core::result<allocation> allocate_counts(const ladder& levels,
                                         const load_to_place& asked,
                                         const lp_limits& limits = {});

/// Distributes the load over levels if every worker can run any of them at
/// once, as with cached latents: max sum of Q f, sum of f = rate, sum of f t <=
/// workers. This relaxation of Eq. 1 is never worse. The optimum mixes at most
/// two levels, neighbours on the concave envelope of quality over time.
core::result<allocation> allocate_pooled(const ladder& levels,
                                         const load_to_place& asked);

/// Workers that have loaded the same levels.
struct worker_group {
  uint32_t count = 0;
  /// By level: whether these workers can run it without loading.
  std::vector<char> can;
};

/// Solves Eq. 1 if each group of workers runs only the levels that it has
/// loaded, for `margin` times the rate, so that the plan tends to faster
/// levels; the loads are scaled back to the rate. It is used while variants are
/// being loaded.
/// Source: Argus, section 4.6; the margin of 1.5 is the paper's.
core::result<allocation> allocate_limited(const ladder& levels, double rate,
                                          std::span<const worker_group> groups,
                                          double margin = 1.5,
                                          const lp_limits& limits = {});

} // namespace atelier::planning::argus
