// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/argus/strategy_switch.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/diffserve/allocation.hpp>
#include <atelier/planning/diffserve/deferral.hpp>
#include <atelier/planning/diffserve/queueing.hpp>
#include <atelier/planning/modm/control.hpp>

#include <cstdint>
#include <optional>
#include <variant>

namespace atelier::planning {

/// What plans of `argus` remember.
struct argus_memory {
  argus::switch_state change;
  slow_switch saturated;
  /// Windows up to here are taken in.
  core::time_point seen;
  /// Route of the first level, and how many levels there are.
  uint32_t first_route = 0;
  uint32_t levels = 0;

  friend bool operator==(const argus_memory&, const argus_memory&) = default;
};

/// What plans of `diffserve` remember.
struct diffserve_memory {
  diffserve::deferral_counts confidences;
  core::time_point seen;
  core::time_point faded;
  diffserve::trial_batch light;
  diffserve::trial_batch heavy;
  slow_switch saturated;
  /// What was decided last from a demand.
  std::optional<diffserve::cascade_plan> decided;

  friend bool operator==(const diffserve_memory&,
                         const diffserve_memory&) = default;
};

/// What plans of `modm` remember.
struct modm_memory {
  modm::split_memory split;
  slow_switch saturated;

  friend bool operator==(const modm_memory&, const modm_memory&) = default;
};

/// What plans of `nirvana` remember.
struct nirvana_memory {
  /// Whether asking for `hit_likely` first gains.
  bool asks_predictor = false;

  friend bool operator==(const nirvana_memory&,
                         const nirvana_memory&) = default;
};

using policy_memory =
  std::variant<std::monostate, argus_memory, diffserve_memory, modm_memory,
               nirvana_memory>;

} // namespace atelier::planning
