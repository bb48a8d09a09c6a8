// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace atelier::config::detail {

/// Returns how many insertions, removals, replacements and swaps of neighbours
/// make `a` into `b` (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known key that `key` most likely stands for; empty where none is
/// near. Keys of devices are written without an index.
std::string nearest_key(std::string_view key);

} // namespace atelier::config::detail
