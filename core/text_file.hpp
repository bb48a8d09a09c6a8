// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace atelier::core {

/// Reads a file whole: no more than `most_bytes` and a part are kept of it.
/// What check_input_file refuses is refused.
/// @param shown how the file is named in errors
/// Errors: ec::io_failed where it cannot be read; ec::bad_payload where it has
///         more bytes.
/// Threads: any; blocks.
result<std::string> read_text_file(const std::string& path, size_t most_bytes,
                                   std::string_view shown);

} // namespace atelier::core
