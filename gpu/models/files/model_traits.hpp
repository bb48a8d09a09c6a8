// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu {

/// The kind of a model's prompts.
enum class caption_kind : uint8_t {
  /// Any text.
  free,
  /// Descriptions of scenes, see training/caption.hpp.
  scenes,
};

/// The recommended use of a model, as its folder states it: atelier.json beside
/// model_index.json, as {"format": "atelier.model", "version": 1,
/// "native_only": true, "captions": "scenes", "most_guidance": 3}.
struct model_traits {
  /// Whether it draws only at its own size: images of other sizes are drawn at
  /// that size and scaled.
  bool native_only = false;
  caption_kind captions = caption_kind::free;
  /// Above this guidance its images get worse; empty: unknown.
  std::optional<float> most_guidance;

  friend bool operator==(const model_traits&, const model_traits&) = default;
};

/// The name of the file in a model's folder.
inline constexpr std::string_view traits_file = "atelier.json";

/// Parses the text of such a file; `where` is used in messages.
/// Errors: ec::bad_payload, ec::bad_config (an unknown key or value).
core::result<model_traits> parse_traits(std::string_view text,
                                        std::string_view where);

/// Returns the text that parse_traits reads.
std::string to_text(const model_traits& x);

} // namespace atelier::gpu
