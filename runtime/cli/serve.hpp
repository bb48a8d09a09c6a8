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

/// Serves until SIGINT or SIGTERM, then refuses new work and lets what runs
/// end, for processes.grace_ms at most. The second signal waits for nothing.
/// Where the server is stands in server.json in the data folder meanwhile.
exit_status serve(const serve_arguments& arguments,
                  const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
