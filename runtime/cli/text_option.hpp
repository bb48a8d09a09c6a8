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

/// Adds options with one value to a subcommand.
class text_options {
public:
  explicit text_options(CLI::App& to) : to_(to) {}

  /// Adds an option as add_text_option does.
  /// @param kind the value's placeholder in the help
  void operator()(const std::string& names, std::optional<std::string>& value,
                  const std::string& kind, const std::string& text) const {
    add_text_option(to_, names, value, text)->type_name(kind);
  }

  /// Puts the options that follow under a heading of the help.
  void group(const char* name) const {
    to_.option_defaults()->group(name);
  }

private:
  CLI::App& to_;
};

/// Adds an option with one value that may be given many times.
CLI::Option* add_repeated_option(CLI::App& app, const std::string& names,
                                 std::vector<std::string>& values,
                                 const std::string& text);

} // namespace atelier::runtime::cli
