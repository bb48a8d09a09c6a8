// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `plan`, as they were written.
struct plan_arguments {
  std::optional<std::string> profiles;
  std::optional<std::string> demand;
  std::optional<std::string> workers;
  std::vector<std::string> kinds;
  std::optional<std::string> policy;
  std::vector<std::string> plans;
  std::optional<std::string> output;
  bool force = false;
};

CLI::App* add_plan(CLI::App& app, plan_arguments& into);

/// Prints the plan that the planner would publish, once all variants are
/// loaded, with its objective and its reasons; with -o, writes it to a file.
exit_status plan(const plan_arguments& arguments,
                 const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
