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

/// Returns whether everything in `said` holds of a scene, and every object of
/// the scene is mentioned.
/// Threads: any.
bool is_true(const description& said, const scene& of);

/// A caption with one false statement.
struct wrong_caption {
  std::string text;
  description says;
  /// Kind of the false statement: "colour", "shape", "size", "texture",
  /// "place", "relation" or "background".
  std::string_view about;
};

/// Draws distinct captions that differ from `word(said, words)` in a single
/// word and are false of the scene. Returns fewer than `count` if no more are
/// found.
/// Threads: any, each with its own generator.
/// @pre is_true(said, of)
std::vector<wrong_caption> draw_wrong_captions(const description& said,
                                               const scene& of,
                                               const core::philox& words,
                                               core::philox& from,
                                               size_t count);

/// Changes `changes` values of a description, or all if it has fewer, each to
/// another value. Prompts that are more or less alike are made this way.
/// Threads: any, each with its own generator.
description change_description(const description& said, size_t changes,
                               core::philox& from);

} // namespace atelier::gpu
