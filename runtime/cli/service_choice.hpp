// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/server_caller.hpp>
#include <atelier/runtime/cli/service.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <variant>

namespace atelier::runtime::cli {

/// Returns the service that answers a command's requests: the running server
/// that the command names, otherwise an engine of its own. If neither is
/// available, prints the reason and returns the command's status.
std::variant<std::unique_ptr<service>, exit_status> choose_service(
  const std::optional<server_options>& server,
  const std::function<core::result<std::unique_ptr<service>>(server_options)>&
    reach,
  const engine_options& own, environment& world);

} // namespace atelier::runtime::cli
