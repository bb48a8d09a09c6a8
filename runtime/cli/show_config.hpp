// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The arguments of `config`.
struct config_arguments {
  bool example = false;
};

CLI::App* add_config(CLI::App& app, config_arguments& into);

/// Prints the configuration that the common options give, as TOML; or the
/// example, with every option explained.
exit_status show_config(const config_arguments& arguments,
                        const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
