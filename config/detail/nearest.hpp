// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/edit_distance.hpp>

#include <string>
#include <string_view>

namespace atelier::config::detail {

using core::edit_distance;

/// Returns the known key most similar to `key`; empty if none is similar. Keys
/// of devices are written without an index.
std::string nearest_key(std::string_view key);

} // namespace atelier::config::detail
