// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::runtime {

/// Returns the text of examples/profiles/NAME.json at build time; empty if no
/// profile has that name.
std::string_view published_profile(std::string_view name);

} // namespace atelier::runtime
