// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/simulation/scenario.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Reads the requests of a trace into a scenario that already has its profile.
/// Returns a note for the user to read before the run, or an empty text.
/// @param draws_edits some requests are drawn to be edits
/// Errors: ec::invalid_argument, with file and line: those of read_trace; a
///         variant that the profile lacks; masks together with drawn edits.
core::result<std::string> read_requests(std::string_view argument,
                                        const std::string& path,
                                        bool draws_edits, scenario& into);

} // namespace atelier::runtime::cli
