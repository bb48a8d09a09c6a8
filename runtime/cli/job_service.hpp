// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/server_caller.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <memory>

namespace atelier::runtime::cli {

/// Returns a service whose pictures a running server makes, each as a job of
/// its own: with all that an engine's answer has, its progress, and `cancel` at
/// any time. Where the server is full the job is handed in again when the
/// server says so, until its deadline. A call that breaks off is repeated and
/// asks for nothing twice. `stop` cancels what is not done, and leaves the
/// server running.
/// Errors: those of server_caller::check; ec::invalid_argument where the key is
///         not taken.
core::result<std::unique_ptr<service>> reach_jobs(server_options options);

} // namespace atelier::runtime::cli
