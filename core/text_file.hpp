// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace atelier::core {

/// Reads a whole file, and keeps at most `most_bytes` and one part of it in
/// memory. Refuses the files that check_input_file refuses.
/// @param shown how the file is named in errors
/// Errors: ec::io_failed if it cannot be read; ec::bad_payload if it has more
///         bytes.
/// Threads: any; blocks.
result<std::string> read_text_file(const std::string& path, size_t most_bytes,
                                   std::string_view shown);

} // namespace atelier::core
