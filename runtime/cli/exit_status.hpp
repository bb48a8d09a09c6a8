// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::runtime::cli {

/// The exit status of the program.
enum class exit_status : int {
  done = 0,
  /// Any failure without a status of its own.
  failed = 1,
  /// Bad usage or input.
  bad_input = 2,
  /// A requested model, device or server was not found.
  not_there = 3,
  /// The request was rejected or late.
  refused = 4,
  /// A signal ended the work.
  interrupted = 130,
};

/// Returns the status for a failure's code (see atelier::failure).
exit_status status_of(std::string_view failure_code);

} // namespace atelier::runtime::cli
