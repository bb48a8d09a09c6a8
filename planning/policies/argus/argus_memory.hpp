// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/strategy_switch.hpp>
#include <atelier/planning/settling.hpp>

#include <cstdint>
#include <string_view>

namespace atelier::planning {

/// What plans of `argus` and its baselines remember.
struct argus_memory {
  static constexpr std::string_view name = "argus";

  argus::switch_state change;
  /// What the levels of this plan save.
  argus::switch_scale scale;
  slow_switch saturated;
  steady_rate steady;
  settling settled;
  /// Windows, and retrievals, up to here are taken in.
  core::time_point seen;
  core::time_point heard;
  /// Route of the first level, and how many levels there are.
  uint32_t first_route = 0;
  uint32_t levels = 0;

  friend bool operator==(const argus_memory&, const argus_memory&) = default;
};

} // namespace atelier::planning
