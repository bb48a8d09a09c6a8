// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/arguments.hpp>

#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// The options of a command that say how its engine is, as they were written.
struct engine_arguments {
  std::optional<std::string> model;
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> policy;
  std::optional<std::string> processes;
  std::optional<std::string> timeline;
  /// What goes for keys that neither the file nor --set names: "key=value".
  std::vector<std::string> defaults;
};

/// What they come to.
struct chosen_engine {
  engine_options engine;
  config::settings settings;
  /// The name that requests use for --model.
  std::optional<std::string> model;
};

/// Reads the configuration with these options, and fills in the shipped models.
/// Errors: ec::invalid_argument, ec::not_found, ec::bad_config (every fault at
///         once).
core::result<chosen_engine> read_engine_options(
  const engine_arguments& arguments, const common_arguments& common);

} // namespace atelier::runtime::cli
