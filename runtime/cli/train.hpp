// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// Where networks are trained, if --dir names no other folder.
inline constexpr auto default_training_folder = "build/training";

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

} // namespace atelier::runtime::cli
