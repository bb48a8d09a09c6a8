// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/modm/control.hpp>
#include <atelier/planning/policies/modm/settled.hpp>

#include <string_view>

namespace atelier::planning {

/// The memory of plans of `modm` and its baselines. Plan files record only that
/// it exists.
struct modm_memory {
  static constexpr std::string_view name = "modm";

  modm::split_memory split;
  slow_switch saturated;
  /// The time of the controller's last step.
  core::time_point stepped;
  /// The inputs of the settled split.
  steady_rate steady;
  modm::hit_counts hits;
  modm::settled_memory settled;

  friend bool operator==(const modm_memory&, const modm_memory&) = default;
};

} // namespace atelier::planning
