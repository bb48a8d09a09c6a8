// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Returns notes on the parts of a prompt that a model trained on captions
/// ignores or replaces, each with the replacement: words that no caption has,
/// with the nearest known word; colours in the wrong place; known words that do
/// not describe a scene. A valid caption yields no notes. Reads the first
/// 4 KiB, and counts the words that it does not list.
/// Threads: any.
std::vector<core::note> caption_notes(std::string_view prompt);

/// Returns a hint at the nearest word of captions, such as "use 'circle'". It
/// is empty if no such word exists.
std::string word_instead_of(std::string_view word);

} // namespace atelier::gpu
