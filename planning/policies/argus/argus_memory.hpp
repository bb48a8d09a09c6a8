// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/strategy_switch.hpp>
#include <atelier/planning/settling.hpp>

#include <cstdint>
#include <string_view>

namespace atelier::planning {

/// The memory of plans of `argus` and its baselines.
struct argus_memory {
  static constexpr std::string_view name = "argus";

  argus::switch_state change;
  /// The savings of this plan's levels.
  argus::switch_scale scale;
  slow_switch saturated;
  steady_rate steady;
  settling settled;
  /// The windows and the retrievals up to these times are included.
  core::time_point seen;
  core::time_point heard;
  /// The route of the first level, and the number of levels.
  uint32_t first_route = 0;
  uint32_t levels = 0;

  friend bool operator==(const argus_memory&, const argus_memory&) = default;
};

} // namespace atelier::planning
