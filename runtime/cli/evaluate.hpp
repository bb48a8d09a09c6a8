// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `evaluate`, as they were written.
struct evaluate_arguments {
  std::optional<std::string> models;
  std::optional<std::string> variants;
  std::optional<std::string> guidances;
  std::optional<std::string> samplers;
  std::optional<std::string> captions;
  std::optional<std::string> starts;
  std::optional<std::string> batch;
  std::optional<std::string> seed;
  std::optional<std::string> device;
  std::optional<std::string> threads;
  std::optional<std::string> output;
  bool force = false;
};

CLI::App* add_evaluate(CLI::App& app, evaluate_arguments& into);

/// Measures what models of the shipped family draw: prints a table, and writes
/// evaluation.json, profile.json (for planner.profile), report.html and contact
/// sheets to the folder that -o names.
exit_status evaluate(const evaluate_arguments& arguments,
                     const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
