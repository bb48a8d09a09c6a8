// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/policy_help.hpp>

#include <fmt/format.h>

namespace atelier::runtime::cli {

std::string policy_help(std::string_view what) {
  std::string out{what};
  out += fmt::format(": {}", planning::automatic_name);
  constexpr std::string_view between = ", ";
  for (const auto& row : planning::policy_rows())
    if (row.kind == planning::policy_kind::system) {
      out += between;
      out += row.name;
    }
  return out + "; docs/policies.md has all";
}

} // namespace atelier::runtime::cli
