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

/// How many workers shall host these variants.
struct hosting_target {
  std::vector<core::variant_id> hosting;
  uint32_t count = 0;
  /// Only workers of this kind; empty: any.
  std::string device_kind;
};

/// Which worker hosts what.
struct worker_match {
  /// By worker: index of its target; none where there are more workers than
  /// wanted.
  std::vector<std::optional<uint32_t>> target;
  /// Workers that must load a variant, and the seconds that all loads take.
  uint32_t moves = 0;
  double load_seconds = 0;
  /// By target: workers wanted that there are not.
  std::vector<uint32_t> missing;
};

/// Gives workers to targets so that as few as possible load anything, of those
/// ways the one that loads for the least time, on each worker as its kind of
/// device does. A variant already resident loads
/// nothing. Of workers that host the same, those with the most steps left stay
/// and those with the fewest are converted; ties go by rising worker_id.
/// Costs the number of different hostings to the third power, whatever the
/// number of workers.
/// @pre every variant of a target is in `known`
worker_match match_workers(std::span<const worker_view> workers,
                           std::span<const hosting_target> targets,
                           const profile& known);

} // namespace atelier::planning
