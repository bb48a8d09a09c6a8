// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Returns the fewest insertions, removals, replacements and swaps of
/// neighbouring bytes that turn `a` into `b` (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the entry of `known` that is nearest to `word`, the first of
/// several; empty where there are none.
std::string nearest(std::string_view word, std::span<const std::string> known);

} // namespace atelier::runtime::cli
