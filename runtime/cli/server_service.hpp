// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/server_caller.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <memory>

namespace atelier::runtime::cli {

/// Returns a service whose images a running server makes through OpenAI's
/// route, with one connection for each image. The image of an answer is empty,
/// because its content is not kept. `cancel` cancels only requests that were
/// not sent yet. `stop` waits for the replies in flight and leaves the server
/// running.
/// Errors: those of server_caller::check.
core::result<std::unique_ptr<service>> reach_server(server_options options);

} // namespace atelier::runtime::cli
