// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http {

/// Returns the bytes in base64, padded, without line breaks.
/// Source: RFC 4648, section 4.
std::string to_base64(std::span<const uint8_t> bytes);

/// Reads base64 of that alphabet alone: padded, no bits left over; line breaks
/// are skipped. Its length is judged before memory is taken.
/// Errors: ec::bad_payload, with `field`; ec::invalid_argument where it is more
///         than `most_bytes`.
core::result<std::vector<uint8_t>> from_base64(std::string_view field,
                                               std::string_view text,
                                               uint64_t most_bytes);

/// Reads an image's file as clients send it in a text: base64, bare or in a
/// data URL. Other URLs are refused: the server fetches nothing.
/// Errors: as from_base64.
core::result<std::vector<uint8_t>> from_image_text(std::string_view field,
                                                   std::string_view text,
                                                   uint64_t most_bytes);

/// Returns a data URL of an image: "data:image/png;base64,...".
std::string to_data_url(std::string_view content_type,
                        std::span<const uint8_t> bytes);

} // namespace atelier::runtime::http
