// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/server_caller.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <memory>

namespace atelier::runtime::cli {

/// Returns a service whose pictures a running server makes, by OpenAI's route,
/// one connection a picture. The picture of an answer is empty: what it looks
/// like is not kept. `cancel` takes back what was not asked yet; the server is
/// left running by `stop`, which waits for the replies under way.
/// Errors: those of server_caller::check.
core::result<std::unique_ptr<service>> reach_server(server_options options);

} // namespace atelier::runtime::cli
