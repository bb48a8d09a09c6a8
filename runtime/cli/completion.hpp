// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// One option as a shell sees it.
struct option_outline {
  /// Spellings such as "-n" and "--count".
  std::vector<std::string> names;
  std::string description;
  bool takes_value = false;
  /// The allowed values. If empty, every value is allowed and files are
  /// offered.
  std::vector<std::string> choices;
};

/// One command as a shell sees it.
struct command_outline {
  std::string name;
  std::string description;
  std::vector<option_outline> options;
  /// The words that the command takes in addition to options. If empty, every
  /// word is allowed and files are offered.
  std::vector<std::string> choices;
  /// More words follow the first one, and files are offered for them.
  bool files_follow = false;
};

/// The whole program as a shell sees it.
struct program_outline {
  std::string name;
  /// Options that every command has.
  std::vector<option_outline> common;
  std::vector<command_outline> commands;
};

/// Returns the outline of `app` and its subcommands.
program_outline outline_of(const CLI::App& app);

/// Returns the completion script for bash, zsh or fish.
/// Errors: ec::invalid_argument for another shell.
core::result<std::string> completion_script(const program_outline& program,
                                            std::string_view shell);

} // namespace atelier::runtime::cli
