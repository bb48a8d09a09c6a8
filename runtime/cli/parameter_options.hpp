// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/cli/arguments.hpp>

#include <CLI/CLI.hpp>

namespace atelier::runtime::cli {

/// Adds the options of the parameters that the help shows in that group.
void add_parameters(CLI::App& to, core::option_group group,
                    parameter_arguments& into);

/// Reads those that were written.
/// Errors: ec::invalid_argument; the text names the option, the value and the
///         range.
core::result<void> read_parameters(const parameter_arguments& written,
                                   const core::limits& within,
                                   generation& into);

} // namespace atelier::runtime::cli
