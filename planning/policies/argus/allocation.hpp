// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::argus {

/// What one solve is asked for.
struct load_to_place {
  /// Requests a second, W_t.
  double rate = 0;
  uint32_t workers = 0;
  /// Workers that host each level now; empty: nobody hosts anything.
  std::vector<uint32_t> hosting;
  /// Quality a second that a second of loading on one worker is worth; 0: loads
  /// cost nothing.
  double load_price = 0;
};

/// How many workers run each level, and how the load is spread.
struct allocation {
  /// By level; empty where any worker runs any level.
  std::vector<uint32_t> workers;
  /// Requests a second of each level, F(v).
  std::vector<double> load;
  /// The same as shares of 1.
  std::vector<double> share;
  /// Sum of Q(v) F(v).
  double quality = 0;
  /// The load exceeds what all workers can do on their fastest level; `load`
  /// is then what they can do.
  bool saturated = false;
};

/// Solves Eq. 1 with a count for each level instead of a binary for each worker
/// and level: workers of one level are alike, so that the optimum is the same.
/// Of equal plans the one that changes the fewest workers, then the one with
/// the slower levels. No load: all on the first level.
/// Errors: ec::invalid_argument: no level, a level without positive time, a
///         rate that is negative or not finite; ec::unavailable: no worker, or
///         a limit was reached without a plan.
/// Source: Argus, section 4.2, Eq. 1.
core::result<allocation> allocate_counts(const ladder& levels,
                                         const load_to_place& asked,
                                         const lp_limits& limits = {});

/// Solves Eq. 1 as published, with a binary for each worker and level; the
/// product of share and binary is made linear. For comparison: slow beyond ten
/// workers. `hosting` and `load_price` are not looked at.
core::result<allocation> allocate_literal(const ladder& levels,
                                          const load_to_place& asked,
                                          const lp_limits& limits = {});

/// Spreads the load over levels where every worker runs any of them at once, as
/// with cached latents: max sum of Q f, sum of f = rate, sum of f t <= workers.
/// A relaxation of Eq. 1: never worse. The optimum mixes at most two levels,
/// neighbours on the concave envelope of quality over time.
core::result<allocation> allocate_pooled(const ladder& levels,
                                         const load_to_place& asked);

/// Workers that have the same levels at hand.
struct worker_group {
  uint32_t count = 0;
  /// By level: whether these workers can run it without loading.
  std::vector<char> can;
};

/// Solves Eq. 1 where each group of workers runs only what it has loaded, for
/// `margin` times the rate, so that the plan leans to faster levels; the loads
/// are scaled back to the rate. Used while variants are being loaded.
/// Source: Argus, section 4.6; the margin of 1.5 is the paper's.
core::result<allocation> allocate_limited(const ladder& levels, double rate,
                                          std::span<const worker_group> groups,
                                          double margin = 1.5,
                                          const lp_limits& limits = {});

} // namespace atelier::planning::argus
