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

/// The reasons for a plan of `atelier`.
struct explanation {
  /// The values that the plan reaches, and those that no plan exceeds.
  unified::phase_values values;
  unified::phase_values bound;
  /// The kind of which one more device would gain most, and its gain in the
  /// first phase that is not fully met.
  std::string helps_most;
  double helps_by = 0;

  friend bool operator==(const explanation&, const explanation&) = default;
};

/// The memory of plans of `atelier`.
struct unified_memory {
  static constexpr std::string_view name = "atelier";

  unified::class_map classes;
  /// The number of devices by pool, for pools that have any.
  std::vector<std::pair<unified::pool_key, uint32_t>> counts;
  /// The time when they last changed.
  core::time_point changed;
  settling settled;
  /// The workers for which they were planned, and the requests per second at
  /// that time, over a long time.
  uint32_t workers = 0;
  double rate = 0;
  steady_rate steady;
  /// The last plan only redistributed the load; a full plan is due.
  bool urgent = false;
  diffserve::deferral_counts confidences;
  core::time_point seen;
  core::time_point faded;
  slow_switch saturated;
  /// The index of the first of its routes; the first ones run one variant each.
  uint32_t first_route = 0;
  /// By label: whether any of its classes starts from cached work.
  std::vector<char> searches;
  /// By label: the fraction of requests that takes each route if their matches
  /// are unknown.
  std::vector<std::vector<double>> blind;
  explanation why;

  friend bool operator==(const unified_memory&,
                         const unified_memory&) = default;
};

} // namespace atelier::planning
