// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

CLI::App* add_status(CLI::App& app, server_arguments& into);
CLI::App* add_stop(CLI::App& app);

/// Tells how a running server is: the one of --server, or of the data folder.
/// Done where it is well; failed where it is starting, stopping or degraded.
exit_status status(const server_arguments& arguments,
                   const common_arguments& common, environment& world);

/// Asks the server of the data folder to end, and waits until it has.
exit_status stop(const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
