// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/http/client.hpp>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// Adds the options that name a server and the right to ask it: --server, --key
/// and --cacert.
void add_server_options(CLI::App& to, server_arguments& into);

/// Returns a request to the server of --server, or to that of the data folder.
/// Its `url` is the server's address without a slash at the end: the caller
/// appends the path.
/// Errors: ec::invalid_argument for --cacert without --server; ec::not_found if
///         no server runs with the data folder; ec::io_failed.
core::result<http::client_request> request_to(const server_arguments& arguments,
                                              const common_arguments& common);

CLI::App* add_status(CLI::App& app, server_arguments& into);
CLI::App* add_stop(CLI::App& app);

/// Reports the state of a running server: that of --server, or that of the data
/// folder. Returns done if it is well and failed if it is starting, stopping or
/// degraded.
exit_status status(const server_arguments& arguments,
                   const common_arguments& common, environment& world);

/// Asks the server of the data folder to end, and waits until it has ended.
exit_status stop(const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
