// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/training/caption.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// What a text says as far as it is understood.
struct parsed_caption {
  description says;
  /// Words that no caption has, each once, as they were written.
  std::vector<std::string> unknown_words;
  /// Sentences about known words that no use was found for, and about what no
  /// scene has: too many objects, a red background.
  std::vector<std::string> remarks;
};

/// Read what a caption or a user's prompt says. Case and punctuation do not
/// matter, nor do articles, but for "the": with the shape and colour of an
/// object that was mentioned before it means that one.
/// Threads: any.
parsed_caption parse_caption(std::string_view text);

} // namespace atelier::gpu
