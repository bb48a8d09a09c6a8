// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::core {

/// Returns the text with the special characters of HTML replaced.
std::string escape_html(std::string_view text);

} // namespace atelier::core
