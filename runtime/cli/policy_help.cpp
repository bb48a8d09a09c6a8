// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/policy_help.hpp>

namespace atelier::runtime::cli {

std::string policy_help(std::string_view what) {
  std::string out{what};
  std::string_view between = ": ";
  for (const auto& row : planning::policy_rows())
    if (row.kind == planning::policy_kind::system) {
      out += between;
      out += row.name;
      between = ", ";
    }
  return out + "; docs/policies.md has all";
}

} // namespace atelier::runtime::cli
