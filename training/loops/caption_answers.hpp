// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A question about a caption, with a fixed number of possible answers.
struct caption_question {
  /// The attribute, which has the same name for all objects.
  std::string_view about;
  int64_t classes = 0;
};

/// Returns the questions that every caption is asked: shape, colour, size,
/// texture and place of its first, second and third object, two relations, and
/// the background.
std::span<const caption_question> caption_questions();

/// Returns a caption's answers, one for each question. Class 0 means that the
/// caption leaves the question open.
std::vector<int64_t> caption_answers(const description& x);

} // namespace atelier::gpu
