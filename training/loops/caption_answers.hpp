// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/caption.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A question about a caption whose answer is one of so many classes.
struct caption_question {
  /// The attribute; the same for all objects.
  std::string_view about;
  int64_t classes = 0;
};

/// Returns what can be asked of every caption: shape, colour, size, texture and
/// place of its first, second and third object, two relations, the background.
std::span<const caption_question> caption_questions();

/// Returns a caption's answers, one for each question. Class 0: it does not
/// say.
std::vector<int64_t> caption_answers(const description& x);

} // namespace atelier::gpu
