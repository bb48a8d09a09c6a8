// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Returns what a command takes besides options, such as " PROMPT..."; empty
/// where it takes nothing.
std::string_view takes_of(std::string_view command);

/// Returns the end of a command's help: notes, two examples, exit statuses.
/// `command` is empty for the program itself.
std::string help_end(std::string_view command);

} // namespace atelier::runtime::cli
