// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/pixels.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::image {

/// Limits for decoding. Sizes are checked before memory is allocated.
struct decode_limits {
  /// Longest side in pixels.
  uint32_t side_px = 16'384;
  /// Largest image in pixels.
  uint64_t picture_px = 4096ull * 4096;
  /// Maximum memory that a decoder takes in addition to the file and four bytes
  /// for each pixel, in bytes. Including the libraries' own memory it stays
  /// below 64 MiB.
  uint64_t working_bytes = 62ull << 20;
  /// Called repeatedly while pixels are decoded; decoding stops when it returns
  /// true. The caller uses it as a time limit. If empty, decoding never stops.
  std::function<bool()> stop = {};

  /// Returns whether the caller wants decoding to stop.
  bool stopped() const {
    return stop && stop();
  }
};

/// An image with more than `free_px` pixels needs a byte of its file for every
/// `most_px_per_byte` of them.
inline constexpr uint64_t free_px = 4096ull * 4096;
inline constexpr uint64_t most_px_per_byte = 16'384;

/// Longest text that is read from a file's metadata, in bytes of its encoding
/// in the file.
inline constexpr size_t most_text_bytes = 1 << 20;

/// Returns the format that the first bytes of `file` claim.
std::optional<core::image_format> recognise(std::span<const uint8_t> file);

/// The properties of an image that its file states before the pixels.
struct header {
  core::image_format format = core::image_format::png;
  /// The size as stored, which is also the size of the image from `decode`.
  core::extent px;
  /// The EXIF orientation, 1..8, which says how to turn the pixels (see
  /// upright); 1 if the file has none.
  uint32_t orientation = 1;

  /// Returns the size of the upright image.
  core::extent upright_px() const {
    return orientation >= 5 ? core::extent{px.height, px.width} : px;
  }

  friend bool operator==(const header&, const header&) = default;
};

/// Reads the header of a file. Decodes nothing and takes no memory: it reads
/// the bounds of the parts, and only the orientation from EXIF. A file with a
/// valid header may be broken after it.
/// Errors:  ec::bad_payload if the file has none of the formats or no size.
/// Threads: any.
core::result<header> read_header(std::span<const uint8_t> file);

/// Returns whether the header of `file` says that the image may have
/// transparent pixels. Decodes nothing.
/// Threads: any.
bool may_be_transparent(std::span<const uint8_t> file);

/// Encodes `pixels` as `how` says. Puts `text` (UTF-8, may be empty) where the
/// AUTOMATIC1111 web UI puts its generation parameters. The same arguments give
/// the same bytes as long as the libraries stay the same.
/// Errors:  ec::invalid_argument if the bytes do not fit the extent, a side is
///          zero or too long for the format, or the quality is outside 1..100;
///          ec::out_of_resources if the library runs out of memory.
/// Threads: any.
core::result<std::vector<uint8_t>> encode(const pixel_view& pixels,
                                          const core::encoding& how,
                                          std::string_view text = {});

/// Decodes a PNG, JPEG or WebP file into three channels, or four if it has
/// transparency. Stops when the pixels that its header promises are complete.
/// Ignores metadata, including compressed metadata.
/// Errors:  ec::bad_payload if the file has none of the formats, is broken, cut
///          short or animated, holds more than its header promises, or is
///          outside `within`; ec::out_of_resources.
/// Threads: any.
core::result<bitmap> decode(std::span<const uint8_t> file,
                            const decode_limits& within = {});

/// Decodes like `decode`, but lays the image on white (see opaque): the result
/// has three channels.
core::result<bitmap> decode_colours(std::span<const uint8_t> file,
                                    const decode_limits& within = {});

/// Returns the generation parameters in `file` as UTF-8, if any. Faulty
/// metadata is ignored, as is a text of more than `most_text_bytes`. Unpacks at
/// most one text. The time depends on the number of the file's parts, not on
/// their lengths.
/// Threads: any.
std::optional<std::string> read_text(std::span<const uint8_t> file);

} // namespace atelier::image
