// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <string>

namespace atelier::config::detail {

/// Reads the whole of a regular file.
/// Errors: ec::io_failed where it cannot be read, is no regular file or holds
///         more than `most` bytes; the text says which, without the path.
core::result<std::string> read_file(const char* path, size_t most);

} // namespace atelier::config::detail
