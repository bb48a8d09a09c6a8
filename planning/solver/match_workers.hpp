// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace atelier::planning {

/// The number of workers that must host these variants.
struct hosting_target {
  std::vector<core::variant_id> hosting;
  uint32_t count = 0;
  /// Only workers of this kind count; empty: any.
  std::string device_kind;
};

/// The assignment of workers to hosting targets.
struct worker_match {
  /// By worker: the index of its target; none for surplus workers.
  std::vector<std::optional<uint32_t>> target;
  /// The number of workers that must load a variant, and the seconds that all
  /// loads take.
  uint32_t moves = 0;
  double load_seconds = 0;
  /// By target: the number of missing workers.
  std::vector<uint32_t> missing;
};

/// Assigns workers to targets so that as few as possible load anything. Among
/// these assignments it chooses the one with the least load time, on each
/// worker by the load times of its kind of device. A resident variant needs no
/// load. Among workers that host the same variants, those with the most steps
/// left stay and those with the fewest are converted; ties are broken by rising
/// worker_id. The cost is cubic in the number of different hostings, whatever
/// the number of workers.
/// @pre every variant of a target is in `known`
worker_match match_workers(std::span<const worker_view> workers,
                           std::span<const hosting_target> targets,
                           const profile& known);

} // namespace atelier::planning
