// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// A part of an image, in pixels from its top left corner.
struct rectangle {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t left = 0;
  uint32_t top = 0;
};

/// Reads "WxH+X+Y"; none where `text` is something else, such as a file's name.
std::optional<rectangle> parse_rectangle(std::string_view text);

/// Returns a PNG of the size of `image`, a file, that is white in `part` and
/// black elsewhere.
/// Errors: ec::invalid_argument (the part is empty or not within the image; the
///         text names --mask), ec::bad_payload (no image),
///         ec::out_of_resources.
core::result<std::vector<uint8_t>> mask_of(const rectangle& part,
                                           std::span<const uint8_t> image);

} // namespace atelier::runtime::cli
