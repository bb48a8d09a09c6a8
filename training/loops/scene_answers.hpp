// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>
#include <atelier/training/loops/caption_answers.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::gpu {

/// Returns the questions that images and captions are both asked: shape,
/// colour, size and texture at each of the nine places, the colour, column and
/// row of each shape's object, and the background.
std::span<const caption_question> scene_questions();

/// Is the answer to a question about a shape that two objects have.
inline constexpr int64_t unanswerable = -100;

/// Returns a scene's answers, one for each question. Class 0 means that no such
/// object exists.
std::vector<int64_t> scene_answers(const scene& x);

/// Returns a caption's answers to the same questions. Class 0 means that the
/// caption leaves the question open.
std::vector<int64_t> scene_answers(const description& x);

/// Returns the questions that one part of an image is asked: shape, colour,
/// size and texture of the object there.
std::span<const caption_question> patch_questions();

/// Returns the answers of side * side squares of an image, row by row. Class 0
/// means that no object's circle covers the square's centre.
/// Shape:   [side, side, patch_questions()]
std::vector<int64_t> patch_answers(const scene& x, uint32_t side);

} // namespace atelier::gpu
