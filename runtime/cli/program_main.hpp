// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/separate_commands.hpp>
#include <atelier/runtime/cli/service.hpp>

namespace atelier::runtime::cli {

/// Does what the arguments of main() say, on the process's own streams and with
/// its signals; returns what main() returns. Programs differ in the service
/// that they start, in the separate commands that they do themselves, while the
/// others are handed over, and in the policies that `plan` and `simulate` know
/// beside planning::all_policies.
int program_main(int count, char** arguments, const service_starter& start,
                 const separate_commands& own,
                 planning::policy_list policies = {});

} // namespace atelier::runtime::cli
