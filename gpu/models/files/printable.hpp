// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Returns foreign text fit to stand in a message: control characters and what
/// is not UTF-8 replaced by '?', and at most about 200 bytes of it.
std::string printable(std::string_view text);

} // namespace atelier::gpu::detail
