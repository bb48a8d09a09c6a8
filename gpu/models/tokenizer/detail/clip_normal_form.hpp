// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Returns `text` with canonical composition (NFC), every run of white space
/// made one space, and each character in lower case, regardless of those
/// around it. Takes time in proportion to the length, also for long runs of
/// combining marks.
/// Source: transformers, models/clip/tokenization_clip.py
/// @pre `text` is UTF-8
std::string clip_normal_form(std::string_view text);

/// Returns `text` with U+FFFD for each maximal part of a sequence that is not
/// UTF-8.
/// Source: The Unicode Standard, section 3.9, "substitution of maximal
///         subparts"
std::string repaired_utf8(std::string_view text);

} // namespace atelier::gpu::detail
