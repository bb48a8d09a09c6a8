// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// Reads a file that `argument` names, up to the largest that a request may
/// bring, and checks that its header is that of an image.
/// Errors: ec::invalid_argument, ec::bad_payload; the text names the argument,
///         the file and what is wrong.
core::result<std::vector<uint8_t>> read_image_file(std::string_view argument,
                                                   const std::string& path,
                                                   const core::limits& within);

} // namespace atelier::runtime::cli
