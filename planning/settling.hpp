// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <optional>

namespace atelier::planning {

/// The rules for when workers change their hosting although the current one
/// serves the load.
struct settling_rules {
  /// The seconds over which the gain must exceed the cost of loading.
  double horizon = 600;
  /// The minimum seconds for which a worker loads: even if the profile calls
  /// loading free, the running rows end first.
  double least_load = 10;
  /// The minimum gain, as a fraction of the quality of all answers.
  double least_gain = 0.005;
  /// The seconds for which the change must be worth its cost without a break.
  double patience = 120;
};

/// Returns the rules for the time that many seconds after the first request:
/// the patience is half of them, at most the usual one. What was chosen from
/// the first few requests may be wrong.
settling_rules rules_after(double seconds);

/// The time since which another hosting has been better.
struct settling {
  std::optional<core::time_point> better_since;

  friend bool operator==(const settling&, const settling&) = default;
};

/// The gain and the cost of another hosting of the workers.
struct hosting_change {
  /// The gain is a fraction of the quality of all answers and may be below 0.
  double gain = 0;
  /// The number of workers that load, and the number of all workers.
  uint32_t moves = 0;
  uint32_t workers = 1;
  /// The seconds that one worker takes to load.
  double load_seconds = 0;
};

/// Returns whether to make the change now: it has been worth its loads for
/// `patience` seconds. A loading worker answers no requests, so that `moves` of
/// `workers` cost their fraction of all answers for `load_seconds`. `state` is
/// remembered until the next plan.
bool worth_moving(settling& state, const hosting_change& x,
                  core::time_point now, const settling_rules& rules = {});

} // namespace atelier::planning
