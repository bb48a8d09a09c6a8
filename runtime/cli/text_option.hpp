// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

// The parser's own conversions take "" for an absent value and "[a,b]" for two
// values; these take every text as it stands.

/// Adds an option with one value, given once at most.
CLI::Option* add_text_option(CLI::App& app, const std::string& names,
                             std::optional<std::string>& value,
                             const std::string& text);

/// Adds an option with one value that may be given many times.
CLI::Option* add_repeated_option(CLI::App& app, const std::string& names,
                                 std::vector<std::string>& values,
                                 const std::string& text);

} // namespace atelier::runtime::cli
