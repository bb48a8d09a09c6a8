// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu::detail {

inline constexpr uint32_t glyph_width = 5;
inline constexpr uint32_t glyph_height = 7;

/// Returns whether the glyph of `c` has ink in column `x` and row `y`.
/// Printable ASCII has glyphs; every other character is a box.
bool glyph_ink(char c, uint32_t x, uint32_t y);

} // namespace atelier::gpu::detail
