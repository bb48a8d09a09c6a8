// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atelier::config::detail {

/// Most parts of one dotted key; those of options have two.
inline constexpr size_t most_key_parts = 8;

/// Returns the line of the first dotted key of more than `most_key_parts`
/// parts, or 0. A key of n parts makes n nested tables, which the parser frees
/// by recursion: a long one would exhaust the stack before anything is checked.
uint32_t find_deep_key(std::string_view toml);

} // namespace atelier::config::detail
