// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/scene.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Tell whether everything that is said holds of a scene, and no object of it
/// goes unmentioned.
/// Threads: any.
bool is_true(const description& said, const scene& of);

/// A caption that says one thing wrong.
struct wrong_caption {
  std::string text;
  description says;
  /// What is wrong: "colour", "shape", "size", "texture", "place", "relation"
  /// or "background".
  std::string_view about;
};

/// Draw captions that differ from `word(said, words)` in a single word and are
/// not true of the scene, no two alike. Fewer than `count` where no more are
/// found.
/// Threads: any, each with its own generator.
/// @pre is_true(said, of)
std::vector<wrong_caption> draw_wrong_captions(const description& said,
                                               const scene& of,
                                               const core::philox& words,
                                               core::philox& from,
                                               size_t count);

/// Change `changes` of what a description says, each to another value, as many
/// as it says at most: for prompts that are more or less alike.
/// Threads: any, each with its own generator.
description change_description(const description& said, size_t changes,
                               core::philox& from);

} // namespace atelier::gpu
