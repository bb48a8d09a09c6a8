// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>
#include <atelier/training/loops/caption_answers.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// Returns what can be asked of a picture and of a caption alike: shape,
/// colour, size and texture at each of the nine places, the colour, column and
/// row of each shape's object, and the background.
std::span<const caption_question> scene_questions();

/// Stands for an answer that cannot be given: two objects have the shape.
inline constexpr int64_t unanswerable = -100;

/// Returns a scene's answers, one for each question. Class 0: no such object.
std::vector<int64_t> scene_answers(const scene& x);

/// Returns a caption's answers to the same questions. Class 0: it does not say.
std::vector<int64_t> scene_answers(const description& x);

/// Returns what can be asked of one part of a picture: shape, colour, size and
/// texture of the object that lies there.
std::span<const caption_question> patch_questions();

/// Returns the answers of side * side squares of a picture, row by row.
/// Class 0: no object's circle covers the square's centre.
/// Shape:   [side, side, patch_questions()]
std::vector<int64_t> patch_answers(const scene& x, uint32_t side);

} // namespace atelier::gpu
