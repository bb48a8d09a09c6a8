// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace atelier::runtime::cli {

/// Where a subcommand reads and writes. Results that programs read go to `out`,
/// all that people read goes to `err`.
struct console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  /// Columns of the terminal that `err` is; 0 where it is none.
  uint32_t columns = 0;

  /// Writes "atelier: TEXT" as a line for people.
  void complain(std::string_view text) const;
};

/// Returns whether standard output is a pipe or a terminal whose other end was
/// closed: nobody is left to be told.
bool reader_has_left();

/// Returns a console over the process's own streams.
console standard_console();

} // namespace atelier::runtime::cli
