// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Returns what --help says of --policy: `what`, then the policies to serve
/// with.
std::string policy_help(std::string_view what);

} // namespace atelier::runtime::cli
