// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/policies/modm/control.hpp>

#include <cstdint>
#include <span>

namespace atelier::planning::modm {

/// Hits, and what they left to run, counted over long: older ones fade.
struct hit_counts {
  double arrived = 0;
  double hits = 0;
  /// Sum over hits of the share of a full run that they ran.
  double left = 0;
  /// Windows up to here are taken in.
  core::time_point seen;

  /// Returns them as a window of `rate` requests a second.
  window at(double rate) const;

  friend bool operator==(const hit_counts&, const hit_counts&) = default;
};

/// Returns the counts with the windows that ended after `before.seen`; what is
/// older than `fading` seconds weighs a third or less. `steps`: of a full run.
hit_counts with(hit_counts before, std::span<const demand_window> windows,
                uint32_t steps, double fading = 1200);

/// What a split that keeps still goes by.
struct settled_rules {
  /// A new split is planned for this share of the capacity, and one in force
  /// is kept up to the other.
  double used = used_capacity;
  double kept = 0.97;
  /// Requests that the hits are taken from at least.
  double least_arrived = 20;
  /// Seconds over which what is gained must exceed what loading costs.
  double horizon = 600;
  /// Seconds that a worker takes to load, at least: what the profile says is
  /// free still ends the rows that run.
  double least_load = 10;
  /// Seconds that more large workers must have been possible for.
  double patience = 1800;
};

struct settled_memory {
  bool started = false;
  /// Those that were there at the last plan.
  uint32_t workers = 0;
  uint32_t large = 0;
  /// Index of the small model.
  uint32_t small = 0;
  /// The fewest large workers, and the fastest small model, that would have
  /// done since `since`; more and better ones are taken after a while.
  uint32_t more = 0;
  uint32_t better = 0;
  core::time_point since;

  friend bool operator==(const settled_memory&,
                         const settled_memory&) = default;
};

/// One small model of the ladder, and what becoming one costs.
struct small_choice {
  small_model runs;
  /// Seconds that a worker takes to load it.
  double load_seconds = 0;
};

struct settled_split {
  uint32_t large = 0;
  /// Index of the small model.
  uint32_t small = 0;
  serve_mode mode = serve_mode::throughput;
  /// No split of the fastest small model serves the loads.
  bool saturated = false;
  settled_memory memory;
};

/// Returns how many of `workers` run the large model, and which small model the
/// others run, large ones taking hits too where no miss waits. `smalls` by
/// falling quality. What is in force stays as long as it serves the loads.
/// Where it does not, the most large workers that do are taken at once; where
/// nothing does, the split that serves the most, if it gains more than its
/// loads cost. More large workers, or a better small model, come after they
/// would have done for `patience` seconds, or for as long as their loads take
/// to pay: a hit that a small worker refines loses up to 1 - `kept_quality`.
/// Too few requests: the split in force, all large at the start, and who joins
/// is large. No small model: all large. `large_load`: seconds that a worker
/// takes to load the large model. Source: the improvement of MoDM, section 5.3,
/// whose controller overshoots.
settled_split plan_settled(uint32_t workers, double large_speed,
                           double large_load,
                           std::span<const small_choice> smalls,
                           const hit_counts& hits, double rate,
                           const settled_memory& before, core::time_point now,
                           const settled_rules& rules = {});

} // namespace atelier::planning::modm
