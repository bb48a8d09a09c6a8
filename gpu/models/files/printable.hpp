// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Returns foreign text in a form fit for messages: control characters and
/// bytes that are not UTF-8 are replaced by '?', and the text is cut at about
/// 200 bytes.
std::string printable(std::string_view text);

} // namespace atelier::gpu::detail
