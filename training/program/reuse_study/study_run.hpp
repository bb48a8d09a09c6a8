// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/training/program/reuse_study/answered_line.hpp>
#include <atelier/training/program/reuse_study/study_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::reuse_study {

/// The outcome of a plan.
struct study_results {
  study_setup setup;
  /// Each system with the lines of its measured requests.
  std::vector<std::pair<const study_system*, std::vector<answered_line>>>
    systems;
};

/// Is called before each request with the system, the number of the answered
/// requests of all systems and that of all requests. If it returns false, the
/// study ends.
using study_listener =
  std::function<bool(const std::string& system, size_t done, size_t of)>;

/// Returns the steps of request `number` of `count`, so that all together have
/// `steps` steps, as evenly as whole numbers allow; at least 1.
uint32_t share_of_steps(uint64_t steps, uint64_t number, uint64_t count);

/// Fills a cache, then puts the same requests to each system in turn, one after
/// the other, through an engine of its own that begins with a copy of that
/// cache. Each answer is a line of SYSTEM.jsonl in the plan's folder: a study
/// that was stopped continues after the last line, as if it had not been.
/// Images of the full runs are kept in the folder `full`.
/// Errors: ec::cancelled; ec::invalid_argument: the folder is of another plan;
///         those of read_setup, study_log, study_engine and of files.
/// Threads: runs in the calling thread and in the engine's.
core::result<study_results> run_study(const study_plan& plan,
                                      const study_listener& told);

} // namespace atelier::runtime::reuse_study
