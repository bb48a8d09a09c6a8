// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

CLI::App* add_serve(CLI::App& app, serve_arguments& into);

/// Serves until SIGINT or SIGTERM, then refuses new work and lets running work
/// end within processes.grace_ms. After the second signal it waits for nothing.
/// While it runs, server.json in the data folder holds its address.
exit_status serve(const serve_arguments& arguments,
                  const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
