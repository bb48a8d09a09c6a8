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

/// The arguments of `topology`, as they were written.
struct topology_arguments {
  std::string file;
  std::optional<std::string> output;
  bool force = false;
};

CLI::App* add_topology(CLI::App& app, topology_arguments& into);

/// Checks a configuration as a topology, every fault at once, and draws what it
/// starts: as text, or with -o as SVG or text by the file's extension.
exit_status show_topology(const topology_arguments& arguments,
                          const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
