// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/load.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/system_facts.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// One result of the checks.
struct finding {
  enum class grade : uint8_t {
    ok,
    /// The program works, but with fewer functions or not as well.
    note,
    /// Images cannot be made like this.
    problem,
  };

  std::string subject;
  grade severity = grade::ok;
  std::string found;
  /// The remedy; empty if none is needed.
  std::string advice;
};

std::string_view to_string(finding::grade x);

/// Judges the machine, and the configuration against it. This function is pure.
std::vector<finding> diagnose(const system_facts& machine,
                              const config::outcome& configuration);

CLI::App* add_doctor(CLI::App& app);

/// Prints what was found, what is missing and how to get it. Fails if a problem
/// was found.
exit_status doctor(const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
