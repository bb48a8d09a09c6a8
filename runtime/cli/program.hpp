// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// Reads the arguments, without the program's name, and does what they say.
/// Threads: one.
exit_status run_program(const std::vector<std::string>& arguments,
                        environment& world);

} // namespace atelier::runtime::cli
