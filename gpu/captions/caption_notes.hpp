// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Return what a model that learned captions does not do of a prompt, each with
/// what comes instead: words that no caption has, with the nearest that one
/// has; colours in the wrong place; known words that make no scene. Of a
/// caption there is none. Reads the first 4 KiB, and counts what it does not
/// name. Threads: any.
std::vector<core::note> caption_notes(std::string_view prompt);

/// Return what to write instead of a word that captions do not have: "use
/// 'circle'". Empty where nothing is near.
std::string word_instead_of(std::string_view word);

} // namespace atelier::gpu
