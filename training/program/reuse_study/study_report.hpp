// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/program/reuse_study/paired.hpp>
#include <atelier/training/program/reuse_study/simulated_study.hpp>
#include <atelier/training/program/reuse_study/study_run.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime::reuse_study {

/// What a system's lines come to.
struct system_summary {
  std::string name;
  size_t requests = 0;
  /// Requests that reused earlier work, and for each number of skipped steps
  /// how many did.
  size_t hits = 0;
  std::map<uint32_t, size_t> skips;
  /// Means over the hits.
  double skipped = 0;
  double similarity = 0;
  /// Means over all requests.
  double steps_run = 0;
  double device_ms = 0;
  /// Mean over images of the share of objects with everything right; nothing:
  /// no image was judged.
  std::optional<double> objects;
  /// Mean distance from the full run's image; nothing: no image has one.
  std::optional<double> distance;

  double hit_rate() const {
    return requests == 0
           ? 0
           : static_cast<double>(hits) / static_cast<double>(requests);
  }
};

system_summary summary_of(std::string name,
                          std::span<const answered_line> lines);

/// A system compared with another on the same requests.
struct compared_systems {
  std::string system;
  std::string with;
  /// The requests: "all", "reused" by the first system, "K>=20" (those for
  /// which it skipped at least so many steps), or "K=20".
  std::string among;
  paired_difference objects;
  paired_difference device_ms;
};

/// Returns every system compared with `full`, and `nirvana` with every other;
/// with `random-entry` also for each number of skipped steps, and for those
/// that are at least 20 of 50.
/// @param steps the number of steps of a whole run
std::vector<compared_systems> compare_systems(const study_results& of,
                                              uint32_t steps);

/// All results of a variant.
struct study_report {
  std::string variant;
  uint32_t warm = 0;
  std::vector<system_summary> systems;
  std::vector<compared_systems> compared;
  std::vector<simulated_system> simulated;
};

/// Computes a report, with the simulations.
/// Errors: those of simulate_systems.
core::result<study_report> report_of(const study_plan& plan,
                                     const study_results& of);

/// Returns reports as JSON: {"format": "atelier.reuse-study.report", ...}.
std::string to_json(std::span<const study_report> all);

/// Returns a report as tables for people.
std::string to_text(const study_report& x);

} // namespace atelier::runtime::reuse_study
