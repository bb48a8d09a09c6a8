// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::core {

/// Returns the version of this build, "major.minor.patch".
std::string_view version();

/// Returns whether this build is made for tests or debugging instead of for
/// speed: its times say nothing of a release, which may be ten times as fast.
bool is_quick_build();

} // namespace atelier::core
