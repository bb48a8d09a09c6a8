// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <string>
#include <string_view>

namespace atelier::core {

/// Checks, without reading, that a file can be read to its end. It must be a
/// regular file that the kernel does not generate while it is read (/proc,
/// /sys, a trace). Pipes, devices and sockets are refused without waiting.
/// @param shown how the file is named in errors
/// Errors: ec::io_failed, "cannot read SHOWN: REASON".
/// Threads: any.
result<void> check_input_file(const std::string& path, std::string_view shown);

} // namespace atelier::core
