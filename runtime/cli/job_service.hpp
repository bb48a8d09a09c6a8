// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/server_caller.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <memory>

namespace atelier::runtime::cli {

/// Returns a service whose images a running server makes, each as a job of its
/// own. It supports everything that an engine's answer has, progress, and
/// `cancel` at any time. If the server is full, the job is submitted again when
/// the server says so, until its deadline. A call whose connection breaks is
/// repeated without requesting anything twice. `stop` cancels unfinished jobs
/// and leaves the server running.
/// Errors: those of server_caller::check; ec::invalid_argument if the server
///         rejects the key.
core::result<std::unique_ptr<service>> reach_jobs(server_options options);

} // namespace atelier::runtime::cli
