// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/description.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A colour requested in a place where no scene has it.
struct misplaced_colour {
  /// The word as written.
  std::string word;
  /// True for a background colour requested on an object, false for an object
  /// colour requested on the background.
  bool on_object = false;

  friend bool operator==(const misplaced_colour&,
                         const misplaced_colour&) = default;
};

/// The meaning of a text, as far as it was understood.
struct parsed_caption {
  description says;
  /// Words that no caption has, each once, as written.
  std::vector<std::string> unknown_words;
  /// Object colours on the background and background colours on objects, each
  /// once.
  std::vector<misplaced_colour> misplaced;
  /// Sentences about known words that were not used, and about properties that
  /// no scene has: too many objects, objects that are not visible.
  std::vector<std::string> remarks;
};

/// The remark on a text that names no shape.
inline constexpr std::string_view no_shape_remark = "no shape is named";

/// Parses a caption or a user's prompt. Case, punctuation and articles are
/// ignored, except that "the" with the shape and colour of an earlier object
/// refers to that object.
/// Threads: any.
parsed_caption parse_caption(std::string_view text);

} // namespace atelier::gpu
