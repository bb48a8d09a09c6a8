// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::core {

/// Returns the colours of reports and of the server's page as CSS variables,
/// for light and dark browsers.
std::string_view page_colours();

} // namespace atelier::core
