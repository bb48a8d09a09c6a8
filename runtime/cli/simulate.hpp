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

/// The arguments of `simulate`, as they were written.
struct simulate_arguments {
  std::optional<std::string> trace;
  std::optional<std::string> load;
  std::optional<std::string> policies;
  std::vector<std::string> plans;
  std::optional<std::string> profiles;
  std::optional<std::string> workers;
  std::vector<std::string> kinds;
  std::optional<std::string> memory;
  std::optional<std::string> seed;
  std::optional<std::string> faults;
  std::vector<std::string> mix;
  std::optional<std::string> max_batch;
  std::optional<std::string> batching;
  std::optional<std::string> slo_ms;
  std::optional<std::string> noise;
  std::optional<std::string> period_ms;
  std::optional<std::string> window_ms;
  std::optional<std::string> similarity;
  std::optional<std::string> classifier_accuracy;
  std::optional<std::string> hit_predictor;
  std::optional<std::string> cache;
  std::optional<std::string> edits;
  std::optional<std::string> masks;
  std::optional<std::string> reproduce;
  std::optional<std::string> output;
  bool force = false;
  /// A published result that does not come out is a failure.
  bool strict = false;
};

CLI::App* add_simulate(CLI::App& app, simulate_arguments& into);

/// Runs policies over one trace in virtual time: a table, and with -o DIR its
/// series and plots. --reproduce is a separate command's work.
exit_status simulate(const simulate_arguments& arguments,
                     const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
