// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/service_choice.hpp>

#include <utility>

namespace atelier::runtime::cli {

std::variant<std::unique_ptr<service>, exit_status> choose_service(
  const std::optional<server_options>& server,
  const std::function<core::result<std::unique_ptr<service>>(server_options)>&
    reach,
  const engine_options& own, environment& world) {
  const auto& terminal = world.terminal;
  if (server) {
    auto reached = reach(*server);
    if (!reached)
      return refuse(terminal, reached.why());
    return std::move(*reached);
  }
  auto started = world.start(own);
  if (const auto* why = std::get_if<failure>(&started)) {
    terminal.complain(why->text);
    return status_of(why->code);
  }
  return std::get<std::unique_ptr<service>>(std::move(started));
}

} // namespace atelier::runtime::cli
