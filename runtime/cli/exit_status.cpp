// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/exit_status.hpp>

#include <utility>

namespace atelier::runtime::cli {

exit_status status_of(std::string_view failure_code) {
  using enum exit_status;
  static constexpr std::pair<std::string_view, exit_status> table[] = {
    {"invalid_argument", bad_input}, {"bad_payload", bad_input},
    {"bad_config", bad_input},       {"not_found", not_there},
    {"unavailable", not_there},      {"overloaded", refused},
    {"deadline_missed", refused},
  };
  for (const auto& [code, status] : table)
    if (code == failure_code)
      return status;
  return failed;
}

} // namespace atelier::runtime::cli
