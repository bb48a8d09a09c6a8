// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Returns the usage of the arguments that are not options, with a blank before
/// it, such as " PROMPT..."; empty if the command takes none.
std::string_view takes_of(std::string_view command);

/// Returns the end of a command's help: notes, two examples and exit statuses.
/// `command` is empty for the program itself.
std::string help_end(std::string_view command);

} // namespace atelier::runtime::cli
