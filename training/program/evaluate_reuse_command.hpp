// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/evaluate.hpp>

namespace atelier::runtime::cli {

/// Checks that no option is given that --cache, or its absence, leaves without
/// an effect.
/// Errors: ec::invalid_argument.
core::result<void> check_reuse_options(const evaluate_arguments& arguments);

/// Measures what the reuse of earlier work gains, for each variant in a folder
/// of its own; prints the tables and writes reuse.json.
exit_status evaluate_reuse(const evaluate_arguments& arguments,
                           const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
