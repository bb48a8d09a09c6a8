// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>
#include <optional>

namespace atelier::planning {

/// When workers change what they host although what they have serves.
struct settling_rules {
  /// Seconds over which what is gained must exceed what loading costs.
  double horizon = 600;
  /// Seconds that a worker takes to load, at least: what the profile says is
  /// free still ends the rows that run.
  double least_load = 10;
  /// What must be gained at least, as a share of the quality of all answers.
  double least_gain = 0.005;
  /// Seconds for which it must have been worth it without a break.
  double patience = 120;
};

/// Since when another hosting has been better.
struct settling {
  std::optional<core::time_point> better_since;

  friend bool operator==(const settling&, const settling&) = default;
};

/// What another hosting of the workers brings, and takes.
struct hosting_change {
  /// Share of the quality of all answers; may be below 0.
  double gain = 0;
  /// Workers that load, of so many.
  uint32_t moves = 0;
  uint32_t workers = 1;
  /// Seconds that one takes to load.
  double load_seconds = 0;
};

/// Returns whether to make the change now: it has been worth its loads for
/// `patience` seconds. A worker that loads answers nothing meanwhile, so that
/// `moves` of `workers` cost their share of all answers for `load_seconds`.
/// `state` is what is to be remembered until the next plan.
bool worth_moving(settling& state, const hosting_change& x,
                  core::time_point now, const settling_rules& rules = {});

} // namespace atelier::planning
