// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/training/program/reuse_study/study_run.hpp>

#include <span>
#include <string>
#include <vector>

namespace atelier::runtime::reuse_study {

/// A live run beside its simulation.
struct simulated_system {
  std::string name;
  /// Shares of the requests that reused earlier work.
  double live_hit_rate = 0;
  double simulated_hit_rate = 0;
  double live_device_seconds = 0;
  double simulated_device_seconds = 0;
};

/// Returns the costs with the times that these requests took: the means of
/// reading the prompt, of a step of one row, and of decoding. Loading takes no
/// time.
planning::profile measured_costs(const study_setup& setup,
                                 std::span<const answered_line> lines);

/// Simulates the systems that search for the nearest entry, and `full`, by the
/// same policies: the same requests in the same order, with the similarities
/// that the live searches found and the costs of measured_costs. The times are
/// those of `full`, so that they say something about the other systems; without
/// `full`, each system's own.
/// Errors: those of simulate.
core::result<std::vector<simulated_system>> simulate_systems(
  const study_results& of);

} // namespace atelier::runtime::reuse_study
