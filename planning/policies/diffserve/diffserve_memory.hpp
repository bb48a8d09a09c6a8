// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policies/diffserve/queueing.hpp>
#include <atelier/planning/settling.hpp>

#include <optional>
#include <string_view>

namespace atelier::planning {

/// The memory of plans of `diffserve` and its baselines. Plan files record only
/// that it exists.
struct diffserve_memory {
  static constexpr std::string_view name = "diffserve";

  diffserve::deferral_counts confidences;
  core::time_point seen;
  core::time_point faded;
  /// When requests were first counted.
  std::optional<core::time_point> begun;
  diffserve::trial_batch light;
  diffserve::trial_batch heavy;
  slow_switch saturated;
  /// The last decision from a demand.
  std::optional<diffserve::cascade_plan> decided;
  steady_rate steady;
  settling settled;

  friend bool operator==(const diffserve_memory&,
                         const diffserve_memory&) = default;
};

} // namespace atelier::planning
