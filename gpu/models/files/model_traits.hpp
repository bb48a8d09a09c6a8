// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu {

/// What a model's prompts are.
enum class caption_kind : uint8_t {
  /// Any text.
  free,
  /// Descriptions of scenes, see training/caption.hpp.
  scenes,
};

/// What a model's folder says of how it wants to be used: atelier.json beside
/// model_index.json, as {"format": "atelier.model", "version": 1,
/// "native_only": true, "captions": "scenes", "most_guidance": 3}.
struct model_traits {
  /// It draws at its own size only: images of other sizes are drawn there and
  /// scaled.
  bool native_only = false;
  caption_kind captions = caption_kind::free;
  /// Beyond this guidance its images get worse; none: not said.
  std::optional<float> most_guidance;

  friend bool operator==(const model_traits&, const model_traits&) = default;
};

/// The name of the file in a model's folder.
inline constexpr std::string_view traits_file = "atelier.json";

/// Reads the text of such a file; `where` stands in messages.
/// Errors: ec::bad_payload, ec::bad_config (a key or value that is not known).
core::result<model_traits> parse_traits(std::string_view text,
                                        std::string_view where);

/// Returns the text that parse_traits reads.
std::string to_text(const model_traits& x);

} // namespace atelier::gpu
