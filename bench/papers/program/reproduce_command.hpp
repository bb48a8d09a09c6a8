// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/bench/papers/reproduce.hpp>
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/exit_status.hpp>
#include <atelier/runtime/cli/simulate.hpp>

#include <span>

namespace atelier::runtime::cli {

/// Returns the exit status of --reproduce. With --strict, a row that fails is a
/// failure.
exit_status end_of_reproduction(std::span<const reproduced> rows, bool strict);

/// Runs the experiments that show the papers' results. Prints them as a table,
/// and with -o DIR also writes them to files.
exit_status reproduce(const simulate_arguments& arguments,
                      const common_arguments& common, environment& world);

} // namespace atelier::runtime::cli
