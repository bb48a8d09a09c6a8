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

/// The arguments of `train`, as they were written.
struct train_arguments {
  /// What is trained.
  std::vector<std::string> words;
  std::optional<std::string> minutes;
  std::optional<std::string> steps;
  std::optional<std::string> seed;
  std::optional<std::string> device;
  std::optional<std::string> threads;
  std::optional<std::string> data_threads;
  std::optional<std::string> folder;
  std::optional<std::string> checkpoint;
  std::optional<std::string> evaluate;
  /// Where the networks are written to, by `export` and at the end of `all`.
  std::optional<std::string> output;
  /// What a run begins with, by `import`.
  std::optional<std::string> models;
  bool resume = false;
  bool force = false;
};

CLI::App* add_train(CLI::App& app, train_arguments& into);

/// Trains one network of the shipped family or all, one after the other, or
/// continues to; or writes those that are trained as models. SIGINT and SIGTERM
/// leave a checkpoint.
exit_status train(const train_arguments& arguments,
                  const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
