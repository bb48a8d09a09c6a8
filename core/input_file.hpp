// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <string>
#include <string_view>

namespace atelier::core {

/// Checks that a file can be read to an end, without reading it: a regular
/// file, and none that the kernel makes up while it is read (/proc, /sys, a
/// trace). Pipes, devices and sockets are refused, not waited for.
/// @param shown how the file is named in errors
/// Errors: ec::io_failed, "cannot read SHOWN: REASON".
/// Threads: any.
result<void> check_input_file(const std::string& path, std::string_view shown);

} // namespace atelier::core
