// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace atelier::core {

/// Returns the smallest number of insertions, removals, replacements and swaps
/// of neighbouring bytes that turns `a` into `b` (optimal string alignment).
/// Takes time proportional to the product of both lengths.
size_t edit_distance(std::string_view a, std::string_view b);

} // namespace atelier::core
