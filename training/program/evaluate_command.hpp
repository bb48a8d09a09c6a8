// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/evaluate.hpp>
#include <atelier/runtime/cli/exit_status.hpp>

namespace atelier::runtime::cli {

/// Measures the images that models of the shipped family draw. Prints a table,
/// and writes evaluation.json, profile.json (for planner.profile), report.html
/// and contact sheets to the folder that -o names.
exit_status evaluate(const evaluate_arguments& arguments,
                     const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
