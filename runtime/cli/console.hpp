// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// The streams of a subcommand. Results for programs are written to `out`,
/// texts for people to `err`.
struct console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  /// The width in columns of the terminal on `err`; 0 if it is no terminal.
  uint32_t columns = 0;

  /// Writes "atelier: TEXT" as a line for people.
  void complain(std::string_view text) const;
};

/// Returns a text of another program, such as a server, in which control
/// characters are written as \xNN, so that it can neither control the terminal
/// nor forge a line.
std::string without_controls(std::string_view text);

/// Returns whether standard output is a pipe or a terminal whose other end was
/// closed, so that no reader is left.
bool reader_has_left();

/// Returns a console over the process's own streams.
console standard_console();

} // namespace atelier::runtime::cli
