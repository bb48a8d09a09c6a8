// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/strategy_switch.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/policies/diffserve/queueing.hpp>
#include <atelier/planning/policies/modm/control.hpp>
#include <atelier/planning/policies/modm/settled.hpp>
#include <atelier/planning/settling.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace atelier::planning {

/// What plans of `argus` remember.
struct argus_memory {
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
  steady_rate steady;
  settling settled;

  friend bool operator==(const diffserve_memory&,
                         const diffserve_memory&) = default;
};

/// What plans of `modm` remember.
struct modm_memory {
  modm::split_memory split;
  slow_switch saturated;
  /// When the controller made its last step.
  core::time_point stepped;
  /// What the split that keeps still goes by.
  steady_rate steady;
  modm::hit_counts hits;
  modm::settled_memory settled;

  friend bool operator==(const modm_memory&, const modm_memory&) = default;
};

/// What plans of `nirvana` remember.
struct nirvana_memory {
  /// Whether asking for `hit_likely` first gains.
  bool asks_predictor = false;

  friend bool operator==(const nirvana_memory&,
                         const nirvana_memory&) = default;
};

/// Why a plan of `atelier` is as it is.
struct explanation {
  /// What the plan reaches, and what no plan exceeds.
  unified::phase_values values;
  unified::phase_values bound;
  /// One more device of this kind would gain most, and how much: in the first
  /// phase that is not met in full.
  std::string helps_most;
  double helps_by = 0;

  friend bool operator==(const explanation&, const explanation&) = default;
};

/// What plans of `atelier` remember.
struct unified_memory {
  unified::class_map classes;
  /// Devices by pool, those that have some.
  std::vector<std::pair<unified::pool_key, uint32_t>> counts;
  /// When they last changed.
  core::time_point changed;
  settling settled;
  /// Workers and requests a second that they were made for.
  uint32_t workers = 0;
  double rate = 0;
  /// The last plan only spread the load anew; a full one is due.
  bool urgent = false;
  diffserve::deferral_counts confidences;
  core::time_point seen;
  core::time_point faded;
  slow_switch saturated;
  /// Where its routes begin; the first ones run one variant each.
  uint32_t first_route = 0;
  /// By label: whether any of its classes starts from cached work.
  std::vector<char> searches;
  /// By label: the part of the requests that takes each route, where it is not
  /// known what is near.
  std::vector<std::vector<double>> blind;
  explanation why;

  friend bool operator==(const unified_memory&,
                         const unified_memory&) = default;
};

using policy_memory =
  std::variant<std::monostate, argus_memory, diffserve_memory, modm_memory,
               nirvana_memory, unified_memory>;

} // namespace atelier::planning
