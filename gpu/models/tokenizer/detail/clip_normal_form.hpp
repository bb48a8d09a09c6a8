// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Returns `text` in canonical composition (NFC), with every run of white space
/// replaced by one space and each character in lower case, independent of its
/// neighbours. Takes time proportional to the length, even for long runs of
/// combining marks.
/// Source: transformers, models/clip/tokenization_clip.py
/// @pre `text` is UTF-8
std::string clip_normal_form(std::string_view text);

/// Returns `text` with U+FFFD in place of each maximal part of a sequence that
/// is not UTF-8.
/// Source: The Unicode Standard, section 3.9, "substitution of maximal
///         subparts"
std::string repaired_utf8(std::string_view text);

} // namespace atelier::gpu::detail
