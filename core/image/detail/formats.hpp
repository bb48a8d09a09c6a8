// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/detail/bytes.hpp>

#include <optional>
#include <string>
#include <string_view>

// The three formats behind codec.hpp. The functions there have checked the
// pixels, the quality and the claimed format; `text` is valid UTF-8.
namespace atelier::image::detail {

core::result<bytes> encode_png(const pixel_view& pixels, std::string_view text);
core::result<bitmap> decode_png(bytes_view file, const decode_limits& within);
std::optional<core::extent> read_png_size(bytes_view file);
std::optional<header> read_png_header(bytes_view file);
bool png_may_be_transparent(bytes_view file);
std::optional<std::string> read_png_text(bytes_view file);

core::result<bytes> encode_jpeg(const pixel_view& pixels, uint32_t quality,
                                std::string_view text);
core::result<bitmap> decode_jpeg(bytes_view file, const decode_limits& within);
std::optional<header> read_jpeg_header(bytes_view file);
std::optional<std::string> read_jpeg_text(bytes_view file);

core::result<bytes> encode_webp(const pixel_view& pixels, uint32_t quality,
                                std::string_view text);
core::result<bitmap> decode_webp(bytes_view file, const decode_limits& within);
std::optional<header> read_webp_header(bytes_view file);
bool webp_has_alpha(bytes_view file);
std::optional<std::string> read_webp_text(bytes_view file);

/// Checks the extent that a file of that format and size claims.
core::result<void> check_extent(core::extent px, const decode_limits& within,
                                core::image_format format, size_t file_bytes);

/// Returns the error for a file of that format whose decoding the caller
/// stopped.
core::error stopped(core::image_format format);

/// Returns the error for a file of unknown format.
core::error no_format(size_t file_bytes);

/// Returns the error for an unreadable file of that format.
core::error broken(core::image_format format, std::string_view why);

} // namespace atelier::image::detail
