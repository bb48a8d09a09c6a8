// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/captions/description.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// A colour that was asked for where no scene has it.
struct misplaced_colour {
  /// As it is written.
  std::string word;
  /// It was asked for on an object, and belongs to backgrounds; or the other
  /// way round.
  bool on_object = false;

  friend bool operator==(const misplaced_colour&,
                         const misplaced_colour&) = default;
};

/// What a text says as far as it is understood.
struct parsed_caption {
  description says;
  /// Words that no caption has, each once, as they were written.
  std::vector<std::string> unknown_words;
  /// Colours of objects behind them, and of backgrounds on objects, each once.
  std::vector<misplaced_colour> misplaced;
  /// Sentences about known words that no use was found for, and about what no
  /// scene has: too many objects, objects that do not show.
  std::vector<std::string> remarks;
};

/// The remark on a text that names no shape.
inline constexpr std::string_view no_shape_remark = "no shape is named";

/// Read what a caption or a user's prompt says. Case and punctuation do not
/// matter, nor do articles, but for "the": with the shape and colour of an
/// object that was mentioned before it means that one.
/// Threads: any.
parsed_caption parse_caption(std::string_view text);

} // namespace atelier::gpu
