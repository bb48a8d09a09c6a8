// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `models`, as they were written.
struct models_arguments {
  /// What to do, and with which model.
  std::vector<std::string> words;
  std::optional<std::string> name;
  std::optional<std::string> dtype;
  std::optional<std::string> vae;
  std::optional<std::string> parts_from;
  std::optional<std::string> vocabulary;
  std::optional<std::string> prediction;
  std::optional<std::string> variant;
  std::optional<std::string> links;
  bool force = false;
  bool scan = false;
  bool checksums = false;
};

/// Adds `models` and its options to `app`; they are read into `into`, but for
/// the words, which are what remains.
CLI::App* add_models(CLI::App& app, models_arguments& into);

/// Lists, shows, imports or checks models.
exit_status models(const models_arguments& arguments,
                   const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
