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

/// Bounds on what is decoded. Those of size are checked before memory is taken.
struct decode_limits {
  /// Longest side in pixels.
  uint32_t side_px = 16'384;
  /// Largest picture in pixels.
  uint64_t picture_px = 4096ull * 4096;
  /// Most memory that a decoder takes beside the file and four bytes for each
  /// pixel, in bytes. With what libraries take for themselves it stays below
  /// 64 MiB.
  uint64_t working_bytes = 62ull << 20;
  /// Asked again and again while pixels are made; true gives the work up. The
  /// caller's clock stands behind it. Empty: never.
  std::function<bool()> stop = {};

  /// Whether the caller wants no more of it.
  bool stopped() const {
    return stop && stop();
  }
};

/// A picture of more pixels than this needs a byte of its file for every
/// `most_px_per_byte` of them.
inline constexpr uint64_t free_px = 4096ull * 4096;
inline constexpr uint64_t most_px_per_byte = 16'384;

/// Longest text that is read out of a file's metadata, in bytes of its own
/// code.
inline constexpr size_t most_text_bytes = 1 << 20;

/// Returns the format that `file` claims by its first bytes.
std::optional<core::image_format> recognise(std::span<const uint8_t> file);

/// What a file says of its picture before its pixels.
struct header {
  core::image_format format = core::image_format::png;
  /// As stored, which is how `decode` returns it.
  core::extent px;
  /// Of EXIF, 1..8: how to turn the pixels (see upright); 1 where none is told.
  uint32_t orientation = 1;

  /// The extent of the picture turned upright.
  core::extent upright_px() const {
    return orientation >= 5 ? core::extent{px.height, px.width} : px;
  }

  friend bool operator==(const header&, const header&) = default;
};

/// Reads the header of a file; decodes nothing and takes no memory: it looks at
/// the bounds of the parts, and of EXIF at the orientation alone. A file that
/// has one may still be broken further on. Errors:  ec::bad_payload if it is
/// none of the formats or has no size. Threads: any.
core::result<header> read_header(std::span<const uint8_t> file);

/// Encode `pixels` as `how` says, with `text` (UTF-8; empty: none) where the
/// AUTOMATIC1111 web UI puts its generation parameters. The same arguments give
/// the same bytes, as long as the libraries stay the same.
/// Errors:  ec::invalid_argument if the bytes do not fit the extent, a side is
///          zero or too long for the format, or the quality is outside 1..100;
///          ec::out_of_resources if the library runs out of memory.
/// Threads: any.
core::result<std::vector<uint8_t>> encode(const pixel_view& pixels,
                                          const core::encoding& how,
                                          std::string_view text = {});

/// Decode a PNG, JPEG or WebP file into three channels, or four where it has
/// transparency. Stops where the pixels that its header promises are complete;
/// metadata, also packed ones, are passed over.
/// Errors:  ec::bad_payload if it is none of them, broken, cut short, animated,
///          holds more than its header promises or is outside `within`;
///          ec::out_of_resources.
/// Threads: any.
core::result<picture> decode(std::span<const uint8_t> file,
                             const decode_limits& within = {});

/// Does what `decode` does and leaves transparency out: the result has three
/// channels. A WebP's transparency takes no memory either.
core::result<picture> decode_colours(std::span<const uint8_t> file,
                                     const decode_limits& within = {});

/// Returns the generation parameters that `file` carries, as UTF-8, if any.
/// Faulty metadata counts as none, and so does a text of more than
/// `most_text_bytes`. Unpacks at most one text; takes time for each part of the
/// file, but not for what they hold.
/// Threads: any.
std::optional<std::string> read_text(std::span<const uint8_t> file);

} // namespace atelier::image
