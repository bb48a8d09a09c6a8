// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// Calls `take` with each line that is not empty, and with its place for
/// messages: "--prompts: FILE:3". A carriage return before the line's end and a
/// byte order mark at the beginning are left out.
/// Errors: ec::invalid_argument for a line of more than `most` bytes, and for
///         more than limits::request_bytes in all; those of `take`.
core::result<void> read_lines(
  std::istream& from, std::string_view name, uint64_t most,
  const core::limits& within,
  const std::function<core::result<void>(std::string line,
                                         const std::string& place)>& take);

/// Calls `read` with the file at `path`, or with `standard_input` where it is
/// "-", and with a name for messages.
/// Errors: ec::invalid_argument if the file cannot be read; those of `read`.
core::result<void> with_prompts_file(
  const std::string& path, std::istream& standard_input,
  const std::function<core::result<void>(std::istream& from,
                                         const std::string& name)>& read);

/// Reads one prompt a line. Empty lines are skipped, every other line is a
/// prompt as it stands; a carriage return before the line's end and a byte
/// order mark at the beginning belong to neither. Errors: ec::invalid_argument
/// with `name` and the line for text that is not
///         UTF-8 or longer than a prompt may be, for more than
///         limits::request_bytes in all, and where there is no prompt.
core::result<std::vector<std::string>> read_prompts(std::istream& from,
                                                    std::string_view name,
                                                    const core::limits& within);

/// Reads the file at `path`, or `standard_input` where it is "-".
core::result<std::vector<std::string>> read_prompts_file(
  const std::string& path, std::istream& standard_input,
  const core::limits& within);

} // namespace atelier::runtime::cli
