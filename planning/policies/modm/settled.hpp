// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/policies/modm/control.hpp>

#include <cstdint>
#include <span>

namespace atelier::planning::modm {

/// The hits and their remaining work, counted over a long time: older ones
/// fade.
struct hit_counts {
  double arrived = 0;
  double hits = 0;
  /// The sum over hits of the fraction of a full run that they ran.
  double left = 0;
  /// The windows up to this time are included.
  core::time_point seen;

  /// Returns the counts as a window of `rate` requests per second.
  window at(double rate) const;

  friend bool operator==(const hit_counts&, const hit_counts&) = default;
};

/// Returns the counts including the windows that ended after `before.seen`;
/// windows older than `fading` seconds have a weight of a third or less.
/// `steps`: the steps of a full run.
hit_counts with(hit_counts before, std::span<const demand_window> windows,
                uint32_t steps, double fading = 1200);

/// The rules of the settled split.
struct settled_rules {
  /// A new split is planned for the fraction `used` of the capacity, and the
  /// current one is kept up to the fraction `kept`.
  double used = used_capacity;
  double kept = 0.97;
  /// The minimum number of requests for an estimate of hits.
  double least_arrived = 20;
  /// The seconds over which the gain must exceed the cost of loading.
  double horizon = 600;
  /// The minimum seconds for which a worker loads: even if the profile calls
  /// loading free, the running rows end first.
  double least_load = 10;
  /// The seconds for which more large workers must have been possible.
  double patience = 1800;
};

struct settled_memory {
  bool started = false;
  /// The number of workers at the last plan.
  uint32_t workers = 0;
  uint32_t large = 0;
  /// The index of the small model.
  uint32_t small = 0;
  /// The smallest number of possible large workers, and the fastest small model
  /// that was needed, since `since`; after a while the split changes to them if
  /// they are more or better than its own.
  uint32_t more = 0;
  uint32_t better = 0;
  core::time_point since;

  friend bool operator==(const settled_memory&,
                         const settled_memory&) = default;
};

/// One small model of the ladder, and the cost of loading it.
struct small_choice {
  small_model runs;
  /// The seconds that a worker takes to load it.
  double load_seconds = 0;
};

struct settled_split {
  uint32_t large = 0;
  /// The index of the small model.
  uint32_t small = 0;
  serve_mode mode = serve_mode::throughput;
  /// No split of the fastest small model serves the loads.
  bool saturated = false;
  settled_memory memory;
};

/// Returns how many of `workers` run the large model, and which small model the
/// others run; large workers also take hits if no miss waits. `smalls` is
/// ordered by falling quality. The current split stays as long as it serves the
/// loads. If it does not, the split with the most large workers that serves
/// them is taken at once; if none does, the split that serves the most, if it
/// gains more than its loads cost. More large workers, or a better small model,
/// are taken after they were sufficient for `patience` seconds, or for the time
/// in which their loads pay off: a hit that a small worker refines loses up to
/// 1 - `kept_quality`. With too few requests, the current split stays, at the
/// start all large, and new workers are large. Without a small model, all are
/// large. `large_load`: the seconds that a worker takes to load the large
/// model.
/// Source: the improvement of MoDM, section 5.3, whose controller overshoots.
settled_split plan_settled(uint32_t workers, double large_speed,
                           double large_load,
                           std::span<const small_choice> smalls,
                           const hit_counts& hits, double rate,
                           const settled_memory& before, core::time_point now,
                           const settled_rules& rules = {});

} // namespace atelier::planning::modm
