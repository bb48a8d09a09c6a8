// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/profile_reuse.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `profile`, as they were written.
struct profile_arguments {
  std::optional<std::string> model;
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> batches;
  std::optional<std::string> sizes;
  std::optional<std::string> steps;
  std::optional<std::string> output;
  bool force = false;
  profile_reuse_arguments reuse = {};
};

CLI::App* add_profile(CLI::App& app, profile_arguments& into);

/// Measures what the first device's variants cost on this machine and, with
/// --cache, what may start from earlier work: prints a table, and writes the
/// file that `planner.profile` names where -o says so.
exit_status profile(const profile_arguments& arguments,
                    const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
