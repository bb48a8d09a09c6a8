// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/settling.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

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
  static constexpr std::string_view name = "atelier";

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

} // namespace atelier::planning
