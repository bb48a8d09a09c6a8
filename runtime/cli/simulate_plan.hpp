// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/planning_files.hpp>
#include <atelier/runtime/cli/simulate.hpp>
#include <atelier/simulation/simulate.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// What a simulation runs.
struct simulation_plan {
  /// All but its policy.
  runtime::scenario scenario;
  policy_list policies;
  std::string title;
  /// What its user should know before it runs, a text each.
  std::vector<std::string> notes;
};

/// Reads every argument, and checks it before anything is simulated.
/// Errors: ec::invalid_argument; the text begins with the argument's name.
/// `more`: policies that --policy can name beside planning::all_policies.
core::result<simulation_plan> plan_simulation(
  const simulate_arguments& arguments, const policy_list& more);

} // namespace atelier::runtime::cli
