// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/interruption.hpp>
#include <atelier/runtime/cli/separate_commands.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace atelier::runtime::cli {

/// What the program stands on; tests bring their own.
struct environment {
  console terminal;
  interruption& interrupted;
  service_starter start;
  std::string version;
  /// Draws the first seed where the user gives none.
  std::function<uint64_t()> draw_seed;
  separate_commands separate = {};
  /// Whether times of this program say nothing of a release
  /// (core::is_quick_build).
  bool quick_build = false;
  /// Policies beside planning::all_policies that `plan` and `simulate` know;
  /// empty: another program has the papers' comparisons.
  planning::policy_list policies = {};
};

} // namespace atelier::runtime::cli
