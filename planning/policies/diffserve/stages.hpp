// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policies/diffserve/leg.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::planning::diffserve {

/// A cascade of any number of legs over any kinds of device.
struct stages_problem {
  /// [leg][kind]; without batches, the leg cannot run there.
  std::vector<std::vector<leg_times>> legs;
  /// By leg except the last: (threshold, deferred fraction of the requests that
  /// reach it), starting with threshold 0 and fraction 0.
  std::vector<std::vector<std::pair<double, double>>> gates;
  /// Requests per second.
  double demand = 0;
  /// By kind.
  std::vector<uint32_t> workers;
  double slo = 0;
  /// The seconds that a request waits, by leg.
  std::vector<double> waits;
};

struct stages_plan {
  /// By gate: the index of its threshold.
  std::vector<size_t> threshold;
  /// [leg][kind]: workers and their batch; batch 0 without workers.
  std::vector<std::vector<uint32_t>> workers;
  std::vector<std::vector<uint32_t>> batch;
  /// By leg: the requests per second that reach it.
  std::vector<double> load;
  /// The sum of thresholds.
  double sum = 0;
};

/// Returns the plan with the largest sum of thresholds that serves the demand
/// within the deadline, by lp_solve. A leg's time is that of its slowest kind.
/// With two legs and one kind it is `allocate`'s problem.
/// Errors: ec::invalid_argument: sizes do not match; ec::unavailable: no plan,
/// or a limit was reached.
/// Source: DiffServe, section 5, extensions.
core::result<stages_plan> allocate_stages(const stages_problem& asked,
                                          const lp_limits& limits = {});

} // namespace atelier::planning::diffserve
