// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::core {

/// Returns the version of this build, "major.minor.patch".
std::string_view version();

} // namespace atelier::core
