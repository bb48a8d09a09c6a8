// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Canonical forms of Unicode 9.0, as character_class.hpp explains. Both
/// functions take time proportional to the length, even for long runs of
/// combining marks.
namespace atelier::gpu::detail {

/// Returns the text in canonical composition (NFC).
std::u32string canonical_composition(std::u32string text);

/// Returns the text in canonical decomposition (NFD).
std::u32string canonical_decomposition(std::u32string text);

} // namespace atelier::gpu::detail
