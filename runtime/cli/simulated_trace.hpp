// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/simulation/scenario.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Reads the requests of a trace into a scenario that has its profile. Returns
/// what its user should know before it runs; empty: nothing.
/// @param draws_edits requests are drawn to be edits besides
/// Errors: ec::invalid_argument, with file and line: those of read_trace; a
///         variant that the profile lacks; masks beside drawn edits.
core::result<std::string> read_requests(std::string_view argument,
                                        const std::string& path,
                                        bool draws_edits, scenario& into);

} // namespace atelier::runtime::cli
