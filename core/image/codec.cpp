// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/detail/formats.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/utf8.hpp>

#include <new>
#include <utility>

namespace atelier::image {

using core::ec;
using core::fail;
using core::image_format;

namespace {

/// Maximum size of the pixels in bytes. The libraries' counters can hold far
/// more.
constexpr uint64_t most_bytes = 1ull << 30;

/// Returns the longest side that a format can hold.
uint32_t longest_side(image_format format) {
  switch (format) {
    case image_format::png:
      return 1'000'000;
    case image_format::jpeg:
      return 65'500;
    case image_format::webp:
      return 16'383;
  }
  return 0;
}

core::result<void> check(const pixel_view& pixels, const core::encoding& how,
                         std::string_view text) {
  const auto [width, height] = pixels.px;
  const uint32_t most = longest_side(how.format);
  if (width == 0 || height == 0 || width > most || height > most)
    return fail(ec::invalid_argument,
                "image {}x{} has a side outside 1..{} pixels for {}", width,
                height, most, to_string(how.format));
  if (pixels.channels != 3 && pixels.channels != 4)
    return fail(ec::invalid_argument, "image has {} channels, not 3 or 4",
                pixels.channels);
  const uint64_t wanted = bytes_of(pixels.px, pixels.channels);
  if (pixels.bytes.size() != wanted)
    return fail(ec::invalid_argument, "image {}x{} has {} bytes, not {}", width,
                height, pixels.bytes.size(), wanted);
  if (wanted > most_bytes)
    return fail(ec::invalid_argument,
                "image {}x{} has {} bytes, outside "
                "1..{}",
                width, height, wanted, most_bytes);
  if (how.quality == 0 || how.quality > 100)
    return fail(ec::invalid_argument, "quality {} outside 1..100", how.quality);
  if (const auto at = core::find_utf8_fault(text))
    return fail(ec::invalid_argument, "parameters are not UTF-8 at byte {}",
                *at);
  return {};
}

} // namespace

std::optional<image_format> recognise(std::span<const uint8_t> file) {
  using namespace std::string_view_literals;
  if (detail::starts_with(file, "\x89PNG\r\n\x1a\n"sv))
    return image_format::png;
  if (detail::starts_with(file, "\xFF\xD8\xFF"sv))
    return image_format::jpeg;
  if (detail::starts_with(file, "RIFF"sv)
      && detail::starts_with(detail::part(file, 8), "WEBP"sv))
    return image_format::webp;
  return std::nullopt;
}

core::result<header> read_header(std::span<const uint8_t> file) {
  const auto format = recognise(file);
  if (!format)
    return detail::no_format(file.size());
  std::optional<header> found;
  switch (*format) {
    case image_format::png:
      found = detail::read_png_header(file);
      break;
    case image_format::jpeg:
      found = detail::read_jpeg_header(file);
      break;
    case image_format::webp:
      found = detail::read_webp_header(file);
      break;
  }
  if (!found || found->px.pixels() == 0)
    return detail::broken(*format, "no valid header");
  found->format = *format;
  return *found;
}

core::result<std::vector<uint8_t>> encode(const pixel_view& pixels,
                                          const core::encoding& how,
                                          std::string_view text) {
  if (auto ok = check(pixels, how, text); !ok)
    return ok.why();
  try {
    switch (how.format) {
      case image_format::png:
        return detail::encode_png(pixels, text);
      case image_format::jpeg:
        return detail::encode_jpeg(pixels, how.quality, text);
      case image_format::webp:
        return detail::encode_webp(pixels, how.quality, text);
    }
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_resources, "no memory to encode an image of {}x{}",
                pixels.px.width, pixels.px.height);
  }
  return fail(ec::internal, "image format {} is unknown",
              static_cast<int>(how.format));
}

core::result<bitmap> decode(std::span<const uint8_t> file,
                            const decode_limits& within) {
  const auto format = recognise(file);
  if (!format)
    return detail::no_format(file.size());
  try {
    switch (*format) {
      case image_format::png:
        return detail::decode_png(file, within);
      case image_format::jpeg:
        return detail::decode_jpeg(file, within);
      case image_format::webp:
        return detail::decode_webp(file, within);
    }
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_resources,
                "no memory to decode an image of {} bytes", file.size());
  }
  return fail(ec::internal, "image format {} is unknown",
              static_cast<int>(*format));
}

core::result<bitmap> decode_colours(std::span<const uint8_t> file,
                                    const decode_limits& within) {
  auto made = decode(file, within);
  if (!made)
    return made;
  return opaque(std::move(*made));
}

bool may_be_transparent(std::span<const uint8_t> file) {
  const auto format = recognise(file);
  if (format == image_format::png)
    return detail::png_may_be_transparent(file);
  return format == image_format::webp && detail::webp_has_alpha(file);
}

std::optional<std::string> read_text(std::span<const uint8_t> file) {
  const auto format = recognise(file);
  if (!format)
    return std::nullopt;
  switch (*format) {
    case image_format::png:
      return detail::read_png_text(file);
    case image_format::jpeg:
      return detail::read_jpeg_text(file);
    case image_format::webp:
      return detail::read_webp_text(file);
  }
  return std::nullopt;
}

namespace detail {

core::result<void> check_extent(core::extent px, const decode_limits& within,
                                image_format format, size_t file_bytes) {
  if (px.width == 0 || px.height == 0 || px.width > within.side_px
      || px.height > within.side_px)
    return fail(ec::bad_payload,
                "{} image of {}x{} has a side outside 1..{} pixels",
                to_string(format), px.width, px.height, within.side_px);
  if (px.pixels() > within.picture_px)
    return fail(
      ec::bad_payload, "{} image of {}x{} has {} pixels, outside 1..{}",
      to_string(format), px.width, px.height, px.pixels(), within.picture_px);
  if (px.pixels() > free_px && px.pixels() / most_px_per_byte > file_bytes)
    return fail(
      ec::bad_payload,
      "{} image of {}x{} has {} bytes, too few for more than {} pixels",
      to_string(format), px.width, px.height, file_bytes, free_px);
  return {};
}

core::error stopped(image_format format) {
  return broken(format, "it takes longer to decode than it may");
}

core::error no_format(size_t file_bytes) {
  return fail(ec::bad_payload,
              "image of {} bytes is neither PNG nor JPEG nor WebP", file_bytes);
}

core::error broken(image_format format, std::string_view why) {
  return fail(ec::bad_payload, "{} image cannot be read: {}", to_string(format),
              why);
}

} // namespace detail

} // namespace atelier::image
