// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::runtime::cli {

/// What the program tells the shell.
enum class exit_status : int {
  done = 0,
  /// Anything that has no status of its own.
  failed = 1,
  /// Bad usage or input.
  bad_input = 2,
  /// A model, device or server that was asked for is not there.
  not_there = 3,
  /// Refused or too late.
  refused = 4,
  /// A signal ended the work.
  interrupted = 130,
};

/// Returns the status for a failure's code (see atelier::failure).
exit_status status_of(std::string_view failure_code);

} // namespace atelier::runtime::cli
