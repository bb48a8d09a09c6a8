// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the files of requests, and images that were drawn before, into the
// source from which a leg starts, in the same way for every stage.

#include <atelier/core/error.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/pixels.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/source_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace atelier::actors {

/// Returns the error of work on a request's file: `why` with the field's name
/// and, if `most` stopped the work, the option that did.
core::error source_error(std::string_view field, const core::error& why,
                         const image::decode_limits& most);

/// Decodes a file as it is meant to be seen: upright, without transparency.
/// @param field field of the request, for messages
/// Errors: those of image::decode_colours, with the field's name.
/// Threads: any.
core::result<image::bitmap> decode_upright_source(
  std::string_view field, std::span<const uint8_t> file,
  const image::decode_limits& most);

/// Does the same, and scales the image to `px`; `was` is its own size.
/// Errors: also those of image::resize.
/// Threads: any.
core::result<image::bitmap> decode_source(std::string_view field,
                                          std::span<const uint8_t> file,
                                          const image::decode_limits& most,
                                          core::extent px, core::extent& was);

/// Puts an image of the answered size where the drawing, of size `drawn`,
/// starts from it, and where it is kept.
/// Errors: those of image::uncover.
core::result<void> put_source(const image::bitmap& x, core::extent drawn,
                              const gpu::source_buffers& into);

/// Pixels that were drawn before, and the sizes for their further use.
struct drawn_source {
  /// The size at which they were drawn, and the size to which they were scaled
  /// (recipe::scaled_to).
  core::extent px;
  core::extent scaled_to;
  /// The sizes at which the leg draws and answers.
  core::extent into_px;
  core::extent answered;
};

/// Writes such pixels as a source, as if they came as a file of that image.
/// Returns the source's bytes.
/// Errors: ec::bad_payload (too few pixels); those of scaling and of the
///         buffer.
core::result<uint64_t> write_drawn_source(const drawn_source& from,
                                          std::span<const std::byte> pixels,
                                          const image::decode_limits& most,
                                          std::span<std::byte> buffer);

} // namespace atelier::actors
