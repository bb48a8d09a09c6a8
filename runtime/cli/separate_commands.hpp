// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/exit_status.hpp>

#include <functional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

struct common_arguments;
struct environment;
struct evaluate_arguments;
struct simulate_arguments;
struct train_arguments;

/// The work of the commands that have programs of their own, so that the
/// serving program does not link their dependencies. The program `atelier`
/// hands the work over; the other programs do it.
struct separate_commands {
  template <class Arguments>
  using work = std::function<exit_status(
    const Arguments&, const common_arguments&, environment&)>;

  work<train_arguments> train;
  work<evaluate_arguments> evaluate;
  /// Runs `simulate --reproduce`.
  work<simulate_arguments> reproduce;
  /// Runs the whole command again in the program that has the papers' baselines
  /// and ablations (planning::is_for_comparisons).
  std::function<exit_status(environment&)> compare;
};

/// Returns commands that continue as `atelier-training` and `atelier-papers`
/// with the arguments of this program. The process stays the same, so output,
/// signals and exit status are those of the other program.
/// Errors: ec::not_found, which is printed, if a program is missing; the text
///         has the places that were searched.
separate_commands handed_over(const std::vector<std::string>& arguments);

} // namespace atelier::runtime::cli
